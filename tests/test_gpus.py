"""Which GPUs a process would see, and how a run's are divided between its server and its trainer."""

import pytest

from grpo_ops.gpus import divide, visible_gpus


@pytest.mark.parametrize(
    ("visible", "seen"),
    [(None, ["0", "1"]), ("1", ["1"]), ("GPU-b", ["GPU-b"]), ("", []), ("7", [])],
)
def test_gpus_are_those_that_a_process_would_see(tmp_path, monkeypatch, visible, seen):
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\nprintf '0, GPU-a1, 1024\\n1, GPU-b2, 2048\\n'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    found = visible_gpus({} if visible is None else {"CUDA_VISIBLE_DEVICES": visible})
    assert [gpu.name for gpu in found] == seen
    assert all(gpu.memory == (1024 if gpu.name == "0" else 2048) * 1024**2 for gpu in found)


@pytest.mark.parametrize(
    ("named", "count", "shares"),
    [((), 1, (("3",), ("1", "2"))), ((), 2, (("2", "3"), ("1",))), (("1",), 1, (("1",), ("2", "3")))],
)
def test_a_server_takes_the_last_gpus_or_those_that_are_named(named, count, shares):
    assert divide(("1", "2", "3"), named, count) == shares
