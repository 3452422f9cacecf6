"""The sweeps that this project trains for itself, to learn from them how wrong forecasts are: what each consists of."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from grpo_ops.specs import RunSpec

TRIALS = 24


@dataclass(frozen=True)
class RecordedSweep:
    """Random search over seven settings, on one starter model.

    steps: optimiser steps of every trial; prompts: held-out ones, the same at every evaluation.
    """

    name: str
    model: str
    steps: int
    seed: int
    schedule: str = "linear"
    batches: tuple[int, ...] = (32, 64)
    prompts: int = 128
    train_size: int = 2048

    @property
    def task(self) -> str:
        return self.model.removeprefix("starter:").split("-")[0]

    def trials(self) -> Iterator[tuple[str, Mapping[str, Any], RunSpec]]:
        """(trial's name, its parameters by TRL's names, its spec), always the same ones."""
        draws = random.Random(self.seed)
        for number in range(TRIALS):
            params = _drawn(draws, self.batches)
            yield f"trial-{number:02}", params, self._spec(number, params)

    def _spec(self, number: int, params: Mapping[str, Any]) -> RunSpec:
        settings = {name: value for name, value in params.items() if name != "lora"}
        document = {
            "name": f"{self.name}-{number:02}",
            "seed": number,
            "model": {"id": self.model},
            "task": {"source": "starter", "name": self.task, "train_size": self.train_size},
            "rewards": [{"name": "reasoning_gym"}],
            "grpo": {
                "max_steps": self.steps,
                "warmup_steps": 10,
                "lr_scheduler_type": self.schedule,
                "max_completion_length": 16,
                "gradient_checkpointing": False,
                **settings,
            },
            "lora": {"r": 8, "lora_alpha": 16, "target_modules": "all-linear"} if params["lora"] else None,
            "evaluation": {"every": 10, "prompts": self.prompts, "temperature": 1.0},
            "checkpoints": {"every": self.steps},
        }
        return RunSpec.checked(document, self.name)


#: Two of them are named in sweeps/HELD_OUT and used for no prior and no setting.
SWEEPS = (
    RecordedSweep("arith-s", "starter:arith-s@0.1", 200, 1, batches=(32, 64, 128)),
    RecordedSweep("spell-s", "starter:spell-s@0.3", 200, 2, batches=(32, 64, 128)),
    RecordedSweep("rotate-xs", "starter:rotate-xs@0.3", 160, 3, "constant_with_warmup"),
    RecordedSweep("sort-s", "starter:sort-s@0.2", 160, 4, train_size=1024),
    RecordedSweep("arith-xs", "starter:arith-xs@0.3", 150, 5, "constant_with_warmup"),
    RecordedSweep("rotate-m", "starter:rotate-m@0.15", 100, 6),
)


def _drawn(draws: random.Random, batches: tuple[int, ...]) -> dict[str, Any]:
    return {
        "learning_rate": 10 ** draws.uniform(-4.0, -1.8),
        "lora": draws.random() < 0.6,
        "num_generations": draws.choice((4, 8, 16)),
        "beta": draws.choice((0.0, 0.0, 0.04)),
        "temperature": draws.uniform(0.7, 1.3),
        "per_device_train_batch_size": draws.choice(batches),
        "num_iterations": draws.choice((1, 1, 2)),
    }
