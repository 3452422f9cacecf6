"""RunPlan: what a run will take, before anything is loaded."""

from dataclasses import asdict, dataclass
from typing import Any

from grpo_ops.planning.architecture import Architecture
from grpo_ops.planning.hardware import Gpu
from grpo_ops.planning.memory import Memory
from grpo_ops.planning.savings import Savings
from grpo_ops.planning.schedule import Schedule
from grpo_ops.planning.timing import StepFlops, StepSeconds

_HOUR = 3600


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of prompts and completions. mean, longest: of the training prompts; padded: as long as a prompt is on
    average in its batch; completion: what every completion is taken to be."""

    mean: float
    longest: int
    padded: float
    completion: float


@dataclass(frozen=True, slots=True)
class RunPlan:
    """One run on `gpus` devices, and the sweep that it belongs to. memory: of one device. flops, seconds: of one step.

    server_gpus: devices of the run's own vLLM server. evaluation: seconds of all held-out evaluations. notes: what the
    numbers leave open, a sentence each.
    """

    name: str
    model_id: str
    model: Architecture
    dtype: str
    gpu: Gpu
    gpus: int
    server_gpus: int
    tokens: Tokens
    schedule: Schedule
    memory: Memory
    flops: StepFlops
    seconds: StepSeconds
    evaluation: float
    savings: Savings | None
    notes: tuple[str, ...]

    @property
    def tokens_per_step(self) -> float:
        """Tokens that a step trains on, padding included."""
        return self.schedule.completions_per_step * (self.tokens.padded + self.tokens.completion)

    @property
    def hours(self) -> float:
        """Hours of the run from its first step to its last evaluation."""
        return (self.schedule.max_steps * self.seconds.total + self.evaluation) / _HOUR

    @property
    def gpu_hours(self) -> float:
        """Hours of all devices, those of a vLLM server included."""
        return self.hours * (self.gpus + self.server_gpus)

    @property
    def money(self) -> float:
        """US dollars, or whatever the price was given in."""
        return self.gpu_hours * self.gpu.price

    @property
    def fits(self) -> bool:
        """Whether the peak is below the memory of a device."""
        return self.memory.peak < self.gpu.memory

    def as_dict(self) -> dict[str, Any]:
        """Flat, with the unit in each name."""
        return {
            "name": self.name,
            "model": self.model_id,
            "model_type": self.model.model_type,
            "architecture_is_known": self.model.is_known,
            "parameters": self.model.parameters,
            "active_parameters": self.model.active,
            "trainable_parameters": self.model.trainable,
            "weights_dtype": self.dtype,
            "gpu": self.gpu.name,
            "gpus": self.gpus,
            "server_gpus": self.server_gpus,
            "price_per_gpu_hour": self.gpu.price,
            **{f"memory_{name}_bytes": value for name, value in asdict(self.memory).items()},
            "memory_peak_bytes": self.memory.peak,
            "memory_of_gpu_bytes": self.gpu.memory,
            "fits": self.fits,
            "prompt_tokens_mean": self.tokens.mean,
            "prompt_tokens_longest": self.tokens.longest,
            "prompt_tokens_padded": self.tokens.padded,
            "completion_tokens": self.tokens.completion,
            **asdict(self.schedule),
            "epochs": self.schedule.epochs,
            "prompts_seen": self.schedule.prompts_seen,
            "completions": self.schedule.completions,
            "tokens_per_step": self.tokens_per_step,
            **{f"{name}_flops_per_step": value for name, value in asdict(self.flops).items()},
            "flops_per_step": self.flops.total,
            **{f"{name}_seconds_per_step": getattr(self.seconds, name) for name in asdict(self.flops)},
            "seconds_per_step": self.seconds.total,
            "dominated_by": self.seconds.dominant,
            "evaluation_seconds": self.evaluation,
            "hours": self.hours,
            "gpu_hours": self.gpu_hours,
            "money": self.money,
            **self._sweep(),
            "notes": list(self.notes),
        }

    def _sweep(self) -> dict[str, Any]:
        savings = self.savings
        if savings is None:
            return {}
        full, kept = savings.trials * self.money, 1 - (savings.share or 0.0)
        return {
            "trials": savings.trials,
            "parallel": savings.parallel,
            "pruner": savings.pruner,
            "expected_saved_share": savings.share,
            "sweep_trial_hours_unpruned": savings.trials * self.hours,
            "sweep_trial_hours_expected": savings.trials * self.hours * kept,
            "sweep_money_unpruned": full,
            "sweep_money_expected": full * kept,
        }
