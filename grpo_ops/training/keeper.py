"""Checkpoints on disk: the best weights are written whole or not at all, leftovers of killed attempts are removed."""

import re
import shutil
from pathlib import Path
from typing import Any

from grpo_ops.journal import RunFolder
from grpo_ops.training.history import History, Saved
from grpo_ops.training.weights import weights_sha256


def save_best(folder: RunFolder, model: Any, tokenizer: Any, step: int, mean: float, weights: Any = None) -> Saved:
    """Write weights (an adapter, or a whole model), tokenizer and config to RUN/checkpoints/best/step-N.

    weights: the state dict that is written, where ranks hold only a part each; None for the model's own.
    """
    place = folder.checkpoints / "best" / f"step-{step}"
    scratch = place.with_name(f".{place.name}")
    for leftover in (scratch, place):
        shutil.rmtree(leftover, ignore_errors=True)
    model.save_pretrained(scratch, state_dict=weights)
    tokenizer.save_pretrained(scratch)
    scratch.rename(place)
    return Saved(step, str(place.relative_to(folder.path)), weights_sha256(place), mean)


def drop_other_bests(folder: RunFolder, best: Saved) -> None:
    """Remove all but the newest best; call it when that one is in the journal."""
    for place in (folder.checkpoints / "best").iterdir():
        if place != folder.path / best.path:
            shutil.rmtree(place, ignore_errors=True)


def resume_checkpoint(folder: RunFolder, step: int) -> Saved:
    """The checkpoint that transformers has just written for `step`."""
    place = folder.checkpoints / f"checkpoint-{step}"
    return Saved(step, str(place.relative_to(folder.path)), weights_sha256(place))


def clear_leftovers(folder: RunFolder, history: History) -> None:
    """Remove checkpoints that are newer than the one the run goes on from, or that were never finished."""
    for place in folder.checkpoints.glob("checkpoint-*"):
        if _number(place) > history.step or str(place.relative_to(folder.path)) in history.damaged:
            shutil.rmtree(place, ignore_errors=True)


def _number(place: Path) -> int:
    match = re.fullmatch(r"checkpoint-(\d+)", place.name)
    return int(match[1]) if match else -1
