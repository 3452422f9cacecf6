"""The table [rollouts]: TRL's vLLM settings under their own names, and one word for the engine."""

import dataclasses
import json
import re
import typing
from pathlib import Path

import pytest

from grpo_ops.errors import SpecError
from grpo_ops.specs import GRPOSettings, RolloutSpec, RunSpec, load_spec
from grpo_ops.specs.rollouts import DERIVED

RUN = Path(__file__).parents[2] / "deployments/runs/demo.toml"
OURS = {"engine", "devices", "allow_quantized"}
DEPRECATED = "vllm_importance_sampling_cap"


def trl_fields():
    trl = pytest.importorskip("trl")
    fields = {field.name: field for field in dataclasses.fields(trl.GRPOConfig)}
    return {name: field for name, field in fields.items() if "vllm" in name}


def test_settings_are_trls_own():
    theirs, own = trl_fields(), RolloutSpec.model_fields
    assert own.keys() - OURS == theirs.keys() - DERIVED - {DEPRECATED}
    assert {name: own[name].default for name in own.keys() - OURS} == {
        name: theirs[name].default for name in own.keys() - OURS
    }


def test_modes_are_the_ones_trl_names():
    modes = typing.get_args(RolloutSpec.model_fields["vllm_importance_sampling_mode"].annotation)
    said = trl_fields()["vllm_importance_sampling_mode"].metadata["help"]
    assert set(modes) == set(re.findall(r"'(\w+_\w+)'", said))


def test_a_server_gets_the_memory_that_trls_server_takes_by_default():
    script = pytest.importorskip("trl.scripts.vllm_serve")
    default = script.ScriptArguments(model="x").gpu_memory_utilization
    assert RolloutSpec(engine="vllm-server").vllm_gpu_memory_utilization == default
    assert RolloutSpec(engine="vllm-server", vllm_gpu_memory_utilization=0.3).vllm_gpu_memory_utilization == 0.3


@pytest.mark.parametrize(
    ("engine", "settings"),
    [
        ("transformers", {}),
        ("vllm-colocate", {"use_vllm": True, "vllm_mode": "colocate", "vllm_gpu_memory_utilization": 0.3}),
        ("vllm-server", {"use_vllm": True, "vllm_mode": "server", "vllm_gpu_memory_utilization": 0.9}),
    ],
)
def test_the_engine_decides_what_trl_is_told(engine, settings):
    told = RolloutSpec(engine=engine).settings()
    assert settings.items() <= told.items()
    assert bool(told) == bool(settings)
    assert told.keys() <= trl_fields().keys()


def test_an_old_run_keeps_its_key():
    """The key of a run is a digest of its spec as JSON: a table of defaults must not appear in it."""
    spec = load_spec(RunSpec, RUN)
    assert "rollouts" not in json.loads(spec.model_dump_json())
    assert "rollouts" not in spec.model_dump(mode="json")
    served = load_spec(RunSpec, RUN, ("rollouts.engine=vllm-server",))
    assert RunSpec.model_validate_json(served.model_dump_json()) == served
    assert served.model_dump()["rollouts"]["vllm_gpu_memory_utilization"] == 0.9


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (("rollouts.engine=vllm",), "rollouts.engine: 'vllm' is not known here; known: transformers, vllm-colocate"),
        (("rollouts.use_vllm=true",), "rollouts.use_vllm: unknown key"),
        (("rollouts.vllm_gpu_memory_utilization=1.5",), "rollouts.vllm_gpu_memory_utilization: input should be less"),
        (("rollouts.vllm_server_base_url='http://a:1'",), 'vllm_server_base_url: needs engine = "vllm-server"'),
        (("rollouts.devices=['0']",), "rollouts.devices: are those of a server that is started here"),
        (
            ("rollouts.engine=vllm-server", "rollouts.devices=['0', '0']", "rollouts.vllm_tensor_parallel_size=2"),
            "rollouts.devices: ['0', '0'] must name each GPU once",
        ),
        (("rollouts.engine=vllm-server", "rollouts.devices=['0,1']"), "must name each GPU once"),
        (
            ("rollouts.engine=vllm-server", "rollouts.devices=['0', '1']"),
            "rollouts.devices: 2 GPUs are named, but vllm_tensor_parallel_size = 1 takes 1",
        ),
        (
            ("rollouts.engine=vllm-colocate", "rollouts.vllm_tensor_parallel_size=2"),
            "rollouts.vllm_tensor_parallel_size: 2 must divide launch.processes = 1",
        ),
        (
            ("rollouts.engine=vllm-colocate", "rollouts.vllm_max_model_length=8", "grpo.max_completion_length=8"),
            "rollouts.vllm_max_model_length: 8 leaves no room for a prompt beside grpo.max_completion_length = 8",
        ),
        (
            ("rollouts.vllm_importance_sampling_clip_min=4",),
            "vllm_importance_sampling_clip_min: 4 must be below vllm_importance_sampling_clip_max = 3",
        ),
        (("grpo.extra.use_vllm=true",), 'extra.use_vllm: remove it; rollouts.engine = "vllm-colocate" or'),
        (("grpo.extra.vllm_mode=server",), "extra.vllm_mode: remove it; rollouts.engine ="),
        (("grpo.extra.vllm_server_port=1",), "extra.vllm_server_port: remove it; rollouts.engine ="),
        (("grpo.extra.vllm_group_port=1",), "extra.vllm_group_port: remove it; write it as rollouts.vllm_group_port"),
        (("grpo.extra.vllm_importance_sampling_cap=2",), "write rollouts.vllm_importance_sampling_clip_max"),
    ],
)
def test_faults_are_named(settings, sentence):
    with pytest.raises(SpecError) as caught:
        load_spec(RunSpec, RUN, settings)
    assert sentence in str(caught.value)


def test_a_truncating_mode_needs_a_bound():
    table = {"vllm_importance_sampling_mode": "token_truncate", "vllm_importance_sampling_clip_max": None}
    with pytest.raises(SpecError, match="'token_truncate' needs vllm_importance_sampling_clip_max or"):
        RolloutSpec.checked(table, "test")
    assert RolloutSpec.checked({**table, "vllm_importance_sampling_correction": False}, "test")


def test_no_vllm_field_can_be_set_by_way_of_extra():
    for name in trl_fields():
        with pytest.raises(SpecError, match=f"extra.{name}: remove it"):
            GRPOSettings.checked({"max_steps": 1, "extra": {name: None}}, "test")
