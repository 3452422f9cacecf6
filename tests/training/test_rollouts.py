"""What TRL is told about the rollout engine."""

import json
from pathlib import Path

import pytest

from grpo_ops.errors import TrainingError
from grpo_ops.journal import RunFolder
from grpo_ops.specs import RunSpec, load_spec
from grpo_ops.training.build import grpo_config
from grpo_ops.training.rollouts import rollout_settings

RUN = Path(__file__).parents[2] / "deployments/runs/demo.toml"


def told(tmp_path, *settings):
    return grpo_config(load_spec(RunSpec, RUN, settings), RunFolder(tmp_path))


def test_transformers_is_trls_default(tmp_path):
    assert rollout_settings(load_spec(RunSpec, RUN).rollouts, RunFolder(tmp_path)) == {}
    assert told(tmp_path).use_vllm is False


def test_a_colocated_engine_has_the_settings_of_the_table(tmp_path):
    config = told(tmp_path, "rollouts.engine=vllm-colocate", "rollouts.vllm_max_model_length=64")
    assert (config.use_vllm, config.vllm_mode, config.vllm_max_model_length) == (True, "colocate", 64)


def test_the_server_is_where_the_supervisor_says(tmp_path):
    (tmp_path / "engine.json").write_text(json.dumps({"base_url": "http://127.0.0.1:1", "group_port": 2}))
    config = told(tmp_path, "rollouts.engine=vllm-server")
    assert (config.use_vllm, config.vllm_mode) == (True, "server")
    assert (config.vllm_server_base_url, config.vllm_group_port) == ("http://127.0.0.1:1", 2)


def test_a_server_of_somebody_elses_is_where_the_spec_says(tmp_path):
    config = told(tmp_path, "rollouts.engine=vllm-server", "rollouts.vllm_server_base_url='http://node7:8000'")
    assert (config.vllm_server_base_url, config.vllm_group_port) == ("http://node7:8000", 51216)


def test_a_trainer_without_its_server_says_so(tmp_path):
    with pytest.raises(TrainingError, match=r"engine.json is missing: the supervisor starts the vLLM server"):
        told(tmp_path, "rollouts.engine=vllm-server")
