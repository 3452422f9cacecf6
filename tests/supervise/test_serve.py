"""The command that becomes the server of a run."""

import sys
from pathlib import Path

import pytest

from grpo_ops.specs import RunSpec, load_spec
from grpo_ops.supervise.serve import serve_command

RUN = Path(__file__).parents[2] / "deployments/runs/demo.toml"


def test_trl_understands_how_the_server_is_started():
    trl = pytest.importorskip("trl")
    script = pytest.importorskip("trl.scripts.vllm_serve")
    settings = (
        "rollouts.engine=vllm-server",
        "rollouts.vllm_max_model_length=64",
        "model.dtype=bfloat16",
        "model.revision=main",
    )
    python, flag, module, *arguments = serve_command(load_spec(RunSpec, RUN, settings), "org/model", 1234)
    assert (python, flag, module) == (sys.executable, "-m", script.__name__)
    (parsed,) = trl.TrlParser(script.ScriptArguments).parse_args_into_dataclasses(arguments)
    assert parsed == script.ScriptArguments(
        model="org/model",
        revision="main",
        dtype="bfloat16",
        host="127.0.0.1",
        port=1234,
        gpu_memory_utilization=0.9,
        max_model_len=64,
    )
