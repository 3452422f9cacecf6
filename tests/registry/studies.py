"""Finished studies for tests of the registry: journals, a real adapter, uploaded as the trainer's are."""

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from grpo_ops.home import Home
from grpo_ops.journal import Journal
from grpo_ops.specs import PromotionSpec
from grpo_ops.tracking import open_run, open_study
from grpo_ops.tracking.closing import Closing
from grpo_ops.tracking.upload import upload_files, write_job
from tests.tracking.world import folder_of, make_spec, write_evaluation, write_start, write_steps

LAW = {
    "law": "exponential",
    "status": "ok",
    "n": 20,
    "horizon": 20,
    "params": {"initial": 0.3, "gain": 0.2},
    "covariance": [[0.01, 0.0], [0.0, 0.01]],
    "noise": 0.02,
    "r2": 0.93,
    "r2_smoothed": 0.97,
}


@dataclass(frozen=True)
class Workshop:
    """Makes studies whose checkpoints are copies of one real adapter."""

    home: Home
    adapter: Path

    def trial(self, study: str, number: int, right: int, **changes) -> str:
        """One trial whose best checkpoint, at step 10, solves `right` of 40 prompts; returns its run key.

        changes: ending, digest, baseline (prompts solved before training, None for no such evaluation), prompts,
        nonfinite (a metric that is NaN once), extra (name to bytes of a further file).
        """
        key = f"{study}-{number:03}"
        tracker = open_run(self.home, make_spec(), key, study=study)
        self._checkpoint(key, changes.get("extra", {}))
        self._journal(key, right, changes)
        tracker.log_law(10, {"law/forecast": 0.55, "law/forecast_low": 0.5, "law/forecast_high": 0.6}, 1e9)
        closing = Closing(changes.get("ending", "finished"), "as the test wants it", 1e9, LAW)
        assert tracker.finish(closing)
        write_job(tracker.plan, tracker.folder, closing, str(tracker.run_id))
        assert upload_files(tracker.folder) == []
        return key

    def study(self, name: str, *scores: int, **changes) -> str:
        """A study with one trial for each of `scores`."""
        open_study(self.home, "grpo-ops", name)
        for number, right in enumerate(scores):
            self.trial(name, number, right, **changes)
        return name

    def _checkpoint(self, key: str, extra: dict[str, bytes]) -> None:
        best = folder_of(self.home, key).checkpoints / "best-10"
        shutil.copytree(self.adapter, best)
        for name, content in extra.items():
            (best / name).write_bytes(content)

    def _journal(self, key: str, right: int, changes: dict) -> None:
        prompts, digest = changes.get("prompts", 40), changes.get("digest", "d1")
        baseline = changes.get("baseline", 4)
        with Journal(folder_of(self.home, key).journal, 0) as journal:
            write_start(journal)
            if baseline is not None:
                write_evaluation(journal, 0, baseline, prompts=prompts, digest=digest)
            write_steps(journal, range(1, 11))
            if "nonfinite" in changes:
                journal.step(11, {changes["nonfinite"]: float("nan")})
            write_evaluation(journal, 10, right, prompts=prompts, digest=digest)
            seal = hashlib.sha256(key.encode()).hexdigest()
            journal.append("checkpoint", step=10, path="checkpoints/best-10", sha256=seal, role="best")


def promotion(study: str, **changes) -> PromotionSpec:
    return PromotionSpec(**{"model": "arith", "study": study, "min_prompts": 32, **changes})
