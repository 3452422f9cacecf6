"""What a rollout engine lacks on a machine is said before anything is loaded, with what to install or to change."""

import re
from pathlib import Path

import pytest

from grpo_ops.gpus import VisibleGpu
from grpo_ops.preflight import check
from grpo_ops.preflight.machine import Machine
from grpo_ops.preflight.rollouts import VLLM_RANGE, rollout_findings, server_faults
from grpo_ops.specs import RunSpec, SweepSpec, load_spec

DEPLOYMENTS = Path(__file__).parents[2] / "deployments"
RUN, SWEEP = DEPLOYMENTS / "runs/demo.toml", DEPLOYMENTS / "sweeps/demo.toml"
GIB = 1024**3
COLOCATE, SERVER = "rollouts.engine=vllm-colocate", "rollouts.engine=vllm-server"


def machine(vllm="0.31.0", gpus=2, gib=80):
    return Machine(vllm, None if gpus is None else tuple(VisibleGpu(str(i), gib * GIB) for i in range(gpus)))


@pytest.fixture
def run(tmp_path):
    """A run of a model whose config alone is there: Llama-3.1-8B, or that with other settings."""
    from transformers import AutoConfig

    def make(*settings, **shape):
        eight = {"vocab_size": 128256, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32}
        eight |= {"num_attention_heads": 32, "num_key_value_heads": 8, "tie_word_embeddings": False}
        eight |= {"dtype": "bfloat16", "max_position_embeddings": 8192}
        AutoConfig.for_model("llama", **{**eight, **shape}).save_pretrained(tmp_path)
        task = ("task={source='reasoning_gym', name='chain_sum'}", f"model.id={tmp_path}")
        return load_spec(RunSpec, RUN, (*task, *settings))

    return make


@pytest.mark.parametrize(
    ("settings", "here", "faults"),
    [
        ((), machine(None, 0), []),
        ((SERVER,), machine(), []),
        ((COLOCATE,), machine("0.22.0", 1), []),
        ((COLOCATE,), machine("0.31.0+cu129", 1), []),
        ((COLOCATE,), machine("0.30.1rc1", None), []),
        (
            (COLOCATE,),
            machine(None),
            [
                "rollouts.engine: 'vllm-colocate' needs vLLM, which is not installed here: "
                "pip install 'grpo-ops[vllm]', or set rollouts.engine = \"transformers\""
            ],
        ),
        (
            (COLOCATE,),
            machine("0.21.4"),
            ["rollouts.engine: vLLM 0.21.4 is installed, TRL supports 0.22.0 to 0.31.0: pip install 'grpo-ops[vllm]'"],
        ),
        (
            (COLOCATE,),
            machine("0.32.0", 0),
            ["vLLM 0.32.0 is installed", "needs a GPU, and this machine shows none (nvidia-smi): run it where"],
        ),
        (
            (SERVER,),
            machine(gpus=1),
            [
                "rollouts.engine: of the GPUs 0 the vLLM server takes 0, which leaves 0 for launch.processes = 1; "
                'show the run 2, or set rollouts.engine = "vllm-colocate"'
            ],
        ),
        ((SERVER, "launch.processes=2"), machine(), ["which leaves 1 for launch.processes = 2; show the run 3"]),
        (
            (SERVER, "rollouts.devices=['5']"),
            machine(),
            ["rollouts.devices: 5 is not among the GPUs that a run here sees: 0, 1"],
        ),
        ((SERVER,), machine(gpus=None), ["rollouts.devices: this machine's GPUs cannot be counted; name those of"]),
        ((SERVER, "rollouts.devices=['0']"), machine(gpus=None), []),
        ((SERVER, "rollouts.vllm_server_base_url='http://node7:8000'"), machine(gpus=1), []),
    ],
)
def test_what_the_machine_lacks(settings, here, faults):
    found, _ = rollout_findings(load_spec(RunSpec, RUN, settings), here)
    assert len(found) == len(faults)
    for said, fault in zip(found, faults, strict=True):
        assert fault in said


def test_on_this_machine_check_says_what_is_missing():
    here = Machine.here()
    expected = ["needs vLLM, which is not installed here: pip install 'grpo-ops[vllm]'"] * (here.vllm is None)
    expected += ["needs a GPU, and this machine shows none (nvidia-smi)"] * (here.gpus == ())
    if not expected:
        pytest.skip("this machine has vLLM and a GPU")
    found = [fault for fault in check(load_spec(RunSpec, RUN, (COLOCATE,))) if fault.startswith("rollouts.engine")]
    assert len(found) == len(expected)
    for said, part in zip(found, expected, strict=True):
        assert part in said


def test_the_range_is_trls_own():
    trl = pytest.importorskip("trl")
    source = (Path(trl.__file__).parent / "import_utils.py").read_text()
    assert re.findall(r'Version\("([\d.]+)"\) <= _vllm_base_version <= Version\("([\d.]+)"\)', source) == [VLLM_RANGE]


SIX = {"hidden_size": 3072, "num_attention_heads": 24, "num_key_value_heads": 6}


@pytest.mark.parametrize(
    ("parts", "shape", "fault"),
    [
        (2, {}, None),
        (3, {}, "3 does not divide the 32 attention heads of .*; valid here: 1, 2, 4, 8, 16, 32$"),
        (16, {}, None),  # each key-value head twice
        (8, SIX, "8 neither divides the 6 key-value heads of .* nor is a multiple of them; use 6 or 1$"),
    ],
)
def test_tensor_parallel_size_divides_the_heads(run, parts, shape, fault):
    spec = run(SERVER, f"rollouts.vllm_tensor_parallel_size={parts}", **{"num_hidden_layers": 2, **shape})
    found, _ = rollout_findings(spec, machine(gpus=parts + 1))
    assert len(found) == (fault is not None)
    assert fault is None or re.search(fault, found[0])


FOUR_BITS = {"quant_method": "bitsandbytes", "load_in_4bit": True}
EIGHT_BITS = {"quant_method": "bitsandbytes", "load_in_8bit": True}


@pytest.mark.parametrize(
    ("quantization", "settings", "fault"),
    [
        (FOUR_BITS, (COLOCATE,), r"rollouts.allow_quantized: .* is quantised \(bitsandbytes\), and merging an adapter"),
        (FOUR_BITS, (COLOCATE, "rollouts.allow_quantized=true"), None),
        (EIGHT_BITS, (COLOCATE, "rollouts.allow_quantized=true"), "quantised to 8 bits, which TRL refuses with vLLM"),
        (FOUR_BITS, (), None),
    ],
)
def test_c16_a_quantized_base_is_refused_unless_it_is_allowed(run, quantization, settings, fault):
    spec = run(*settings, num_hidden_layers=2, quantization_config=quantization)
    found, _ = rollout_findings(spec, machine(gpus=1))
    assert len(found) == (fault is not None)
    assert fault is None or re.search(fault, found[0])


@pytest.mark.parametrize(
    ("settings", "gib", "fault"),
    [
        ((SERVER,), 24, None),
        (
            (SERVER,),
            16,
            "rollouts.vllm_gpu_memory_utilization: 0.9 of GPU 0 is 14.4 GiB, but vLLM needs about 16 GiB: "
            "weights 15 GiB, KV cache of one sequence of 8192 tokens 1 GiB; raise it, lower vllm_max_model_length",
        ),
        ((SERVER, "rollouts.vllm_tensor_parallel_size=2"), 16, None),
        ((COLOCATE,), 80, "0.3 of GPU 0 is 24 GiB, which beside the 59.8 GiB that training keeps there is more than"),
        ((COLOCATE, "rollouts.vllm_enable_sleep_mode=true"), 80, None),
    ],
)
def test_memory_for_the_model_and_its_cache(run, settings, gib, fault):
    spec = run(*settings)
    found, _ = rollout_findings(RunSpec.checked({**spec.model_dump(), "lora": None}, "test"), machine(gpus=3, gib=gib))
    assert len(found) == (fault is not None)
    assert fault is None or fault in found[0]


def test_the_estimate_is_shown(run):
    _, (note,) = rollout_findings(run(SERVER, "rollouts.vllm_max_model_length=4096"), machine())
    assert note.startswith(
        "rollouts: vLLM may take 72 GiB of each GPU (estimates follow): weights 15 GiB, KV cache 0.5 "
    )


def test_an_adapter_leaves_room_beside_a_colocated_engine(run):
    assert rollout_findings(run(COLOCATE, "lora.target_modules=all-linear"), machine(gib=80))[0] == []


def test_trials_side_by_side_do_not_share_a_servers_gpus():
    def faults(*settings):
        return list(server_faults(load_spec(SweepSpec, SWEEP, settings)))

    assert faults("parallel=2") == []
    assert "name those of each slot, 2 a slot" in faults("parallel=2", f"run.{SERVER}")[0]
    assert faults("devices=['0,1', '2,3']", f"run.{SERVER}") == []
    (fault,) = faults("devices=['0,1', '2,3']", f"run.{SERVER}", "run.rollouts.devices=['1']")
    assert fault.startswith("run.rollouts.devices: every trial's vLLM server would take the same GPUs")
