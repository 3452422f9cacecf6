"""Slots: no two live trials share a device, and each trainer sees its own."""

import json
import sys
from itertools import combinations

import pytest

from grpo_ops.errors import SpecError
from grpo_ops.home import Home
from grpo_ops.supervise import ProcessLauncher
from grpo_ops.sweep import run_sweep
from grpo_ops.sweep.slots import Slots
from tests.sweep.helpers import assert_whole
from tests.sweep.sweep_process import TESTS, spec_with

#: Notes its environment and when it worked, then does as the scripted trainer.
NOTING = """
import json, os, sys, time
from pathlib import Path
folder, began = Path(sys.argv[2]), time.time()
sys.argv = sys.argv[1:]
sys.path.insert(0, str(Path(sys.argv[0]).parents[1]))
from tests.scripted_trainer import main
main(sys.argv[1])
note = {"devices": os.environ.get("CUDA_VISIBLE_DEVICES"), "from": began, "to": time.time()}
(folder / "note.json").write_text(json.dumps(note))
"""
NOTES = ProcessLauncher(command=(sys.executable, "-c", NOTING, str(TESTS / "scripted_trainer.py")))


def notes_of(spec, home, monkeypatch):
    monkeypatch.setenv("TRAINER_MOOD", "slow:0.01")
    run_sweep(spec, home, launcher=NOTES)
    assert_whole(home, spec)
    return [json.loads(path.read_text()) for path in sorted(home.runs.glob("*/note.json"))]


def test_live_trials_share_no_device(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    spec = spec_with('devices=["0", "1", "2,3"]', "parallel=3", "trials=6", "run.grpo.max_steps=30", "pruner.name=none")
    notes = notes_of(spec, Home(tmp_path / "home"), monkeypatch)
    assert len(notes) == 6
    assert {note["devices"] for note in notes} == {"0", "1", "2,3"}
    for one, other in combinations(notes, 2):
        if one["devices"] == other["devices"]:
            assert one["to"] <= other["from"] or other["to"] <= one["from"]


def test_without_devices_a_trainer_sees_what_its_sweep_sees(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    spec = spec_with("trials=1", "run.grpo.max_steps=10")
    assert [note["devices"] for note in notes_of(spec, Home(tmp_path / "home"), monkeypatch)] == ["7"]


def test_a_slot_is_free_again_when_it_is_released():
    slots = Slots.of(2, ("0", "1", "2"))
    first, second = slots.take(), slots.take()
    assert [slot.environment for slot in (first, second)] == [
        {"CUDA_VISIBLE_DEVICES": "0"},
        {"CUDA_VISIBLE_DEVICES": "1"},
    ]
    assert not slots.free
    slots.release(second)
    assert slots.take() is second


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (('devices=["0"]', "parallel=2"), "parallel: 2 trials at a time need as many device sets, but devices names 1"),
        (('devices=["0", "1,0"]',), "device 0 is named 2 times"),
        (('devices=["0", ""]',), "has an empty name"),
    ],
)
def test_devices_that_cannot_be_are_refused(settings, sentence):
    with pytest.raises(SpecError, match=sentence):
        spec_with(*settings)


def test_parallel_follows_from_devices():
    document = spec_with().model_dump(mode="json", exclude={"parallel"})
    assert type(spec_with()).checked(document | {"devices": ["0", "1", "2,3"]}, "test").parallel == 3
