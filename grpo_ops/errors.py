"""One error family. Each room has a subclass that is also the standard error it refines."""

from collections.abc import Sequence


class GrpoOpsError(Exception):
    """Base of all errors that grpo-ops raises on purpose: the message is one clear sentence for the user."""


class SpecError(GrpoOpsError, ValueError):
    """A spec is wrong. `faults` lists every fault, each with its dotted path and what to do."""

    def __init__(self, source: str, faults: Sequence[str]) -> None:
        super().__init__(source, tuple(faults))
        self.source = source
        self.faults = tuple(faults)

    def __str__(self) -> str:
        count = f"{len(self.faults)} faults" if len(self.faults) > 1 else "1 fault"
        return "\n".join([f"{self.source}: {count}", *(f"  - {fault}" for fault in self.faults)])


class CurveError(GrpoOpsError, ValueError):
    """Something is not a reward curve."""


class JournalError(GrpoOpsError, ValueError):
    """A run folder or its journal does not say what it must."""


class LawError(GrpoOpsError, ValueError):
    """An argument of the law is outside its domain (the quality of a fit is a status, never an error)."""


class TaskError(GrpoOpsError, ValueError):
    """A task, its data or a starter model cannot be had as asked for."""


class PlanError(GrpoOpsError, ValueError):
    """What a run will take cannot be said: its model's config cannot be had, or an option is out of range."""


class RewardError(GrpoOpsError, RuntimeError):
    """A reward function raised, or returned what is not a reward: the run fails, nothing is scored 0."""


class TrainingError(GrpoOpsError, RuntimeError):
    """The trainer cannot go on: bad checkpoint, adapter hash mismatch, no model."""


class SupervisionError(GrpoOpsError, RuntimeError):
    """A trainer process cannot be started or is owned by somebody else."""


class TrackingError(GrpoOpsError, RuntimeError):
    """MLflow refused what was asked (an outage is not an error: the journal is replayed later)."""


class SweepError(GrpoOpsError, RuntimeError):
    """A study cannot be started or continued as asked."""


class RegistryError(GrpoOpsError, RuntimeError):
    """A model cannot be registered or found."""


class MissingExtraError(GrpoOpsError, ImportError):
    """A command needs an extra that is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(what, extra)
        self.what = what
        self.extra = extra

    def __str__(self) -> str:
        return f"{self.what} needs the extra {self.extra!r}: pip install 'grpo-ops[{self.extra}]'"
