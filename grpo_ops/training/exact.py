"""TRL's trainer, which after a resume goes on where it would have gone on.

What TRL and transformers leave out of a checkpoint: the order of the prompts after the first epoch (the sampler's
generator starts anew, so the first epoch's order would come again), and how many micro steps were done (so that
generations would begin at other steps). Completions that several steps share are not in a checkpoint either: a
checkpoint that is due in the middle of a generation waits for its end.
"""

from typing import Any

import torch
from trl import GRPOTrainer


class ExactTrainer(GRPOTrainer):  # type: ignore[misc]
    """GRPOTrainer whose place in the data can be set."""

    _sampler: Any = None

    def _get_train_sampler(self, dataset: Any = None) -> Any:
        self._sampler = super()._get_train_sampler(dataset)
        return self._sampler

    def go_on_from(self, step: int, batches: int) -> None:
        """Take the place that a run has after `step` optimiser steps; call it before the first batch is drawn.

        batches: of an epoch, on this rank.
        """
        a_step = self.args.gradient_accumulation_steps
        steps_an_epoch = max(1, -(-batches // a_step))
        epochs, rest = divmod(step, steps_an_epoch)
        self._step = epochs * batches + rest * a_step
        if self._sampler is not None and self._sampler.shuffle:
            for _ in range(epochs):
                torch.randperm(self._sampler.num_samples, generator=self._sampler.generator)

    @property
    def is_between_generations(self) -> bool:
        """Whether the next micro step generates anew: what is saved here loses no completions."""
        shared = self.args.steps_per_generation * self.num_iterations
        return bool(self._step % shared == 0)
