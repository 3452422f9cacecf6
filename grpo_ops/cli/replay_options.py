"""The options of `grpo-ops replay`, checked."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from grpo_ops.errors import CurveError
from grpo_ops.replay import Candidate, Protocol, candidates
from grpo_ops.replay.trials import Metric


@dataclass(frozen=True)
class ReplayOptions:
    """The command's options as they were given; what they mean, or CurveError, is in the methods."""

    pruners: str
    workers: str
    protocol: Protocol
    metric: str
    jobs: int
    plot: Path | None
    as_json: bool

    def check(self) -> None:
        """Raise CurveError for the first option that is wrong by itself."""
        if self.protocol.replicates < 1:
            raise CurveError(f"--replicates is a number of studies, 1 or more, but got {self.protocol.replicates}")
        if self.protocol.seed < 0:
            raise CurveError(f"--seed cannot be negative but got {self.protocol.seed}")
        if self.jobs < 1:
            raise CurveError(f"--jobs is a number of processes, 1 or more, but got {self.jobs}")
        if self.plot is not None:
            _check_plot(self.plot)

    def rules(self) -> list[Candidate]:
        return candidates(None if self.pruners.strip() == "all" else _parts(self.pruners))

    def worker_counts(self) -> list[int]:
        parts = _parts(self.workers)
        if not parts or not all(part.isdecimal() and int(part) > 0 for part in parts):
            raise CurveError(f"--workers takes numbers of trials at a time, such as 1,4, but got {self.workers!r}")
        return list(dict.fromkeys(int(part) for part in parts))

    def judged_by(self) -> Metric:
        if self.metric not in get_args(Metric):
            raise CurveError(f"--metric must be one of {', '.join(get_args(Metric))} but got {self.metric!r}")
        return cast(Metric, self.metric)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _check_plot(path: Path) -> None:
    if path.suffix.lower() != ".png":
        raise CurveError(f"--plot {path} must end in .png")
    if not path.absolute().parent.is_dir():
        raise CurveError(f"--plot {path} cannot be written: there is no folder {path.parent}; make it first")
