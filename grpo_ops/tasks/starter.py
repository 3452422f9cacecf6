"""Starter models: `starter:TASK-SIZE[@share]`, made once on this machine and kept by the hash of their recipe."""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from grpo_ops.errors import TaskError
from grpo_ops.home import Home
from grpo_ops.specs.task import STARTER
from grpo_ops.tasks.presets import starter_task

#: Raise it when a change makes other weights of the same recipe.
VERSION = 2
SIZES = {"xs": 0.1, "s": 0.4, "m": 1.6}
SMALLEST, LARGEST = 0.03, 3.0


@dataclass(frozen=True)
class Recipe:
    """All that decides a starter model's weights. parameters: how many, in millions; share: part of right answers."""

    task: str
    parameters: float
    share: float
    version: int = VERSION

    @classmethod
    def of(cls, model_id: str) -> "Recipe":
        """The recipe that a name stands for. Raises TaskError for an unknown task, size or share."""
        match = STARTER.match(model_id)
        if match is None:
            raise TaskError(f"{model_id!r} is no starter model; write starter:TASK-SIZE[@share]")
        starter_task(match["task"])
        size, share = match["size"], float(match["share"] or 0.3)
        parameters = SIZES.get(size) or float(size.removesuffix("m"))
        if not SMALLEST <= parameters <= LARGEST:
            raise TaskError(
                f"a starter model has {SMALLEST}m to {LARGEST}m parameters but {model_id!r} asks for {size}"
            )
        if not 0 < share < 1:
            raise TaskError(f"the share of right answers must be between 0 and 1 but {model_id!r} asks for {share}")
        return cls(match["task"], parameters, share)

    @property
    def digest(self) -> str:
        content = asdict(self) | {"preset": _stable(self.task)}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:20]


def starter_folder(model_id: str) -> Path:
    """The folder of a starter model (safetensors, tokenizer, config); it is made on first use, in under a minute.

    Processes that ask at the same time wait for the one that makes it. Raises TaskError as Recipe.of does.
    """
    recipe = Recipe.of(model_id)
    folder = Home.here().cache / "starter" / recipe.digest
    if not folder.is_dir():
        with _locked(folder.with_suffix(".lock")):
            if not folder.is_dir():
                _make(recipe, folder)
    return folder


def _make(recipe: Recipe, folder: Path) -> None:
    from grpo_ops.tasks.warmup import warmed_up

    scratch = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(scratch, ignore_errors=True)
    model, tokenizer = warmed_up(recipe.task, recipe.parameters, recipe.share)
    model.save_pretrained(scratch)
    tokenizer.save_pretrained(scratch)
    (scratch / "recipe.json").write_text(json.dumps(asdict(recipe)), encoding="utf-8")
    scratch.rename(folder)


def _stable(task: str) -> dict[str, object]:
    preset = starter_task(task)
    return {
        "dataset": preset.dataset,
        "config": dict(preset.config),
        "phrases": preset.phrases,
        "steps": preset.learning,
    }


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock file; it is freed with the process, so a killed maker blocks nobody."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
