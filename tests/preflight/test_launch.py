"""Ranks that this machine cannot start are said before anything is loaded."""

import pytest

from grpo_ops.preflight.launch import launch_faults, slot_faults
from grpo_ops.specs import LaunchSpec

FSDP = """
compute_environment: LOCAL_MACHINE
distributed_type: FSDP
fsdp_config: {fsdp_version: 2}
num_processes: 8
mixed_precision: bf16
"""


@pytest.fixture
def config(tmp_path):
    file = tmp_path / "fsdp.yaml"
    file.write_text(FSDP)
    return file


def test_ranks_on_a_cpu_need_nothing(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert list(launch_faults(LaunchSpec(processes=2))) == []


@pytest.mark.parametrize(("visible", "faults"), [("0,1", 0), ("0", 1)])
def test_each_rank_needs_a_gpu_of_its_own(monkeypatch, visible, faults):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    found = list(launch_faults(LaunchSpec(processes=2)))
    assert found == ["launch.processes: 2 ranks need a GPU each, and this machine shows 1"][:faults]


def test_an_accelerate_config_needs_gpus(monkeypatch, config):
    launch = LaunchSpec(processes=2, accelerate_config=str(config))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    assert list(launch_faults(launch)) == []
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    (fault,) = launch_faults(launch)
    assert fault.startswith("launch.accelerate_config: FSDP and DeepSpeed need GPUs")


@pytest.mark.parametrize(("text", "fault"), [(None, "there is no file"), ("num_processes: [", "cannot read")])
def test_a_config_that_accelerate_does_not_take(monkeypatch, tmp_path, text, fault):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    file = tmp_path / "broken.yaml"
    if text is not None:
        file.write_text(text)
    (found,) = launch_faults(LaunchSpec(processes=2, accelerate_config=str(file)))
    assert fault in found and "broken.yaml" in found


def test_a_slot_has_a_device_for_each_rank():
    assert list(slot_faults(LaunchSpec(processes=2), ("0,1", "2,3"))) == []
    assert [fault.split(",")[0] for fault in slot_faults(LaunchSpec(processes=2), ("0,1", "2"))] == [
        "devices: the slot '2' has 1"
    ]
