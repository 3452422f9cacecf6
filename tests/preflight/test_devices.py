"""Devices that this machine does not show are said before a trial would silently train on the CPU."""

import pytest

from grpo_ops.preflight.devices import device_faults, visible_count


@pytest.fixture
def gpus(tmp_path, monkeypatch):
    """A machine whose nvidia-smi lists so many devices."""

    def make(count):
        lines = "\\n".join(f"GPU {index}: NVIDIA X (UUID: GPU-{index})" for index in range(count))
        program = tmp_path / "nvidia-smi"
        program.write_text(f"#!/bin/sh\nprintf '{lines}\\n'\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    return make


@pytest.mark.parametrize(
    ("count", "devices", "faults"),
    [
        (4, ("0", "1", "2,3"), []),
        (
            2,
            ("0", "2,3"),
            ["devices: 2 is named, but the CUDA devices that this machine shows are 2, numbered from 0"] * 2,
        ),
        (0, ("0",), ["devices: 0 is named, but the CUDA devices that this machine shows are none"]),
        (1, ("GPU-8932f937",), []),
        (0, (), []),
    ],
)
def test_fewer_devices_than_named(gpus, count, devices, faults):
    gpus(count)
    expected = [fault.replace("devices: 2", f"devices: {name}") for fault, name in zip(faults, "23", strict=False)]
    assert list(device_faults(devices)) == (expected if len(faults) > 1 else faults)


def test_devices_outside_of_what_this_process_may_see(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5")
    (fault,) = device_faults(("4", "0"))
    assert fault == "devices: 0 is not among the devices of this process, CUDA_VISIBLE_DEVICES='4,5'"


def test_without_nvidia_smi_the_driver_is_asked(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("gpus/0000:01:00.0", "gpus/0000:02:00.0"):
        (tmp_path / name).mkdir(parents=True)
    assert visible_count(tmp_path / "gpus", tmp_path / "kfd") == 2
    assert visible_count(tmp_path / "none", tmp_path / "kfd") == 0
    (tmp_path / "kfd").touch()
    assert visible_count(tmp_path / "none", tmp_path / "kfd") is None
