"""The health of a run while it trains: what is wrong goes into the journal by name, and may end the run."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from grpo_ops.curve import evaluation_curve
from grpo_ops.errors import TrainingError
from grpo_ops.journal import Journal, RunFolder, journal_curve, journal_evaluations
from grpo_ops.law.diagnostics import Finding, Severity, Symptom, diagnose, journal_diagnoses
from grpo_ops.law.diagnostics.not_finite import ADVICE
from grpo_ops.specs import RunSpec

#: A look reads the journal and runs all detectors over it: 10 ms of CPU at step 100, 70 ms at step 1000.
LOOKS = 20
#: A loss scaler (fp16) skips single steps whose gradient is infinite; so many in a row are no accident.
STRIKES = 3


@dataclass
class Health:
    """What was diagnosed so far, earlier attempts included, and what speaks for a stop.

    said: the worst severity of each symptom that the journal has. suspects: what was critical at the last look.
    strikes: steps in a row without a finite gradient. is_forgiven: an earlier attempt was stopped as diverged and yet
    goes on (somebody thawed it), so that it is not stopped for its health again.
    """

    folder: RunFolder
    journal: Journal
    spec: RunSpec
    said: dict[Symptom, Severity] = field(default_factory=dict)
    suspects: frozenset[Symptom] = frozenset()
    strikes: int = 0
    is_forgiven: bool = False

    @classmethod
    def of(cls, folder: RunFolder, journal: Journal, spec: RunSpec) -> Self:
        """The health of a run as earlier attempts left it."""
        entries = folder.entries()
        said = {finding.symptom: finding.severity for finding in journal_diagnoses(entries)}
        ends = [entry["message"] for entry in entries if entry["kind"] == "end" and entry["reason"] == "stopped"]
        return cls(folder, journal, spec, said, is_forgiven=any(end.startswith("diverged:") for end in ends))

    def check(self, step: int, metrics: Mapping[str, float], model: Any) -> None:
        """Raise TrainingError where a step's numbers are not finite and will not become so: see `_broken`."""
        sentence = self._broken(step, metrics, model)
        if sentence is None:
            return
        since, evidence = step - max(0, self.strikes - 1), f"{sentence[0].upper()}{sentence[1:]}."
        self._say(step, Finding(Symptom.NOT_FINITE, Severity.CRITICAL, since, evidence, "The run ends here.", ADVICE))
        raise TrainingError(f"{sentence}; look for huge rewards, lower the learning rate or use bf16")

    def look(self, step: int) -> None:
        """At each twentieth of the run: say what is new or worse; ask for a stop where the spec wants one."""
        if not self.is_due(step):
            return
        found = self._diagnose(step)
        for finding in found:
            known = self.said.get(finding.symptom)
            if finding.severity is not Severity.INFO and (known is None or finding.severity.rank < known.rank):
                self._say(step, finding)
        self._stop(step, [finding for finding in found if finding.severity is Severity.CRITICAL])

    def is_due(self, step: int) -> bool:
        """Whether `step` completes a twentieth of the run; each step does where there are fewer than 20."""
        steps = self.spec.grpo.max_steps
        return step * LOOKS // steps > (step - 1) * LOOKS // steps

    def _broken(self, step: int, metrics: Mapping[str, float], model: Any) -> str | None:
        """A loss or reward that is not finite, weights that are not, or the third such gradient in a row."""
        for name in ("reward", "loss"):
            if not math.isfinite(metrics.get(name, 0.0)):
                return f"the {name} of step {step} is {metrics[name]}"
        norm = metrics.get("grad_norm", 0.0)
        self.strikes = 0 if math.isfinite(norm) else self.strikes + 1
        if self.strikes and not are_finite(model):
            return f"the gradient norm of step {step} is {norm} and the weights after it are no numbers any more"
        if self.strikes >= STRIKES:
            return f"the gradient norm was not finite at {STRIKES} steps in a row, up to step {step} ({norm})"
        return None

    def _diagnose(self, step: int) -> tuple[Finding, ...]:
        """What the journal shows up to `step`; a resumed run's has steps beyond it, which are about to be repeated."""
        entries, last = self.folder.entries(), self.spec.grpo.max_steps
        evaluations = evaluation_curve(journal_evaluations(entries), last)
        return diagnose(journal_curve(entries, last).upto(step), evaluations.upto(step), last)

    def _say(self, step: int, finding: Finding) -> None:
        self.journal.append("diagnosis", step=step, **finding.as_dict())
        self.said[finding.symptom] = finding.severity

    def _stop(self, step: int, critical: list[Finding]) -> None:
        """Ask for a stop for what stands at two looks in a row: at one, a quarter of the collapses still heals."""
        before, self.suspects = self.suspects, frozenset(finding.symptom for finding in critical)
        if self.is_forgiven or step >= self.spec.grpo.max_steps:
            return
        for finding in critical:
            if finding.symptom in before and finding.symptom in self.spec.stopping.symptoms:
                self.folder.request_stop("diverged", finding.sentence)


def are_finite(model: Any) -> bool:
    """Whether all weights that are trained are numbers."""
    return all(bool(weight.isfinite().all()) for weight in model.parameters() if weight.requires_grad)
