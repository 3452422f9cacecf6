"""Journal lines as MLflow metrics. Pure: what is sent, and what MLflow then has, follow from the lines alone."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mlflow.entities import Metric

from grpo_ops.journal import Entry, entry_evaluation
from grpo_ops.tracking.names import BEST_CHECKPOINT, NONFINITE, TAG, UNSCORABLE, clean_name, cut, diagnosis_tag

#: Metrics of one call: MLflow takes 1000; half of it stays well below the time that a call may take.
BATCH = 500


@dataclass(frozen=True, slots=True)
class Ledger:
    """What is in MLflow already, by kind of line.

    logged: the highest step that MLflow has. seen: the highest step that was read from the journal since we connected.
    nonfinite: how often each metric was NaN or infinite. unscorable: completions that no reward could score.
    """

    logged: Mapping[str, int] = field(default_factory=dict)
    seen: Mapping[str, int] = field(default_factory=dict)
    nonfinite: Mapping[str, int] = field(default_factory=dict)
    unscorable: float = 0.0
    digest: str | None = None

    def is_new(self, entry: Entry) -> bool:
        """Whether `entry` is the first of its kind and step (a resumed trainer repeats steps: the first counts)."""
        return int(entry["step"]) > self.seen.get(entry["kind"], -1)

    def is_logged(self, entry: Entry) -> bool:
        return int(entry["step"]) <= self.logged.get(entry["kind"], -1)

    def after(self, entry: Entry) -> "Ledger":
        """The ledger once `entry` is in MLflow."""
        kind, step, counts = entry["kind"], int(entry["step"]), dict(self.nonfinite)
        for name in nonfinite_names(entry):
            counts[name] = counts.get(name, 0) + 1
        logged = {**self.logged, kind: max(step, self.logged.get(kind, -1))}
        digest = entry["digest"] if kind == "evaluation" else self.digest
        lost = self.unscorable + float(_values(entry).get("rewards/unscorable", 0.0))
        seen = {**self.seen, kind: step}
        return replace(self, logged=logged, seen=seen, nonfinite=counts, unscorable=lost, digest=digest)


@dataclass(frozen=True, slots=True)
class Batch:
    """What one call brings to MLflow, and the ledger that holds once it has succeeded.

    inputs: digest to size of sets of held-out prompts that come up for the first time. rest: entries for later calls.
    """

    metrics: Sequence[Metric]
    tags: Mapping[str, str]
    inputs: Mapping[str, int]
    ledger: Ledger
    rest: Sequence[Entry]


def next_batch(entries: Sequence[Entry], ledger: Ledger) -> Batch:
    """As many of `entries` as fit into one call; steps are never split over calls."""
    metrics: list[Metric] = []
    tags: dict[str, str] = {}
    inputs: dict[str, int] = {}
    before, taken = ledger, 0
    for entry in entries:
        if len(metrics) >= BATCH:
            break
        taken += 1
        if not _is_measurement(entry):
            tags.update(_tags(entry))
        elif ledger.is_new(entry):
            metrics.extend(() if ledger.is_logged(entry) else entry_metrics(entry))
            inputs.update(_new_input(entry, ledger))
            ledger = ledger.after(entry)
    if ledger.nonfinite != before.nonfinite:
        tags[NONFINITE] = nonfinite_words(ledger.nonfinite)
    if ledger.unscorable != before.unscorable:
        tags[UNSCORABLE] = f"{ledger.unscorable:g} completions that no reward could score"
    return Batch(metrics, tags, inputs, ledger, entries[taken:])


def entry_metrics(entry: Entry) -> Iterator[Metric]:
    """The finite numbers of a `step`, `evaluation` or `law` line, at its step and its own time."""
    moment, step = milliseconds(entry["time"]), int(entry["step"])
    for name, value in _values(entry).items():
        if math.isfinite(value):
            yield Metric(clean_name(name), float(value), moment, step)


def nonfinite_names(entry: Entry) -> list[str]:
    """Names of the metrics of this line that are NaN or infinite."""
    values = {name for name, value in _values(entry).items() if not math.isfinite(value)}
    known = () if entry["kind"] != "evaluation" else ("eval_reward_stderr",)  # NaN for a single prompt: no news
    return sorted((values | set(entry.get("nonfinite", ()))) - set(known))


def nonfinite_words(counts: Mapping[str, int]) -> str:
    """`{"loss": 2}` as `loss 2`; an empty text where everything was finite."""
    return cut(", ".join(f"{name} {count}" for name, count in sorted(counts.items())), 1000)


def law_line(step: int, values: Mapping[str, float], time: float) -> Entry:
    """Law metrics in the form of a journal line, so that they go the same way."""
    return {"kind": "law", "step": step, "time": time, "metrics": dict(values)}


def milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def _is_measurement(entry: Entry) -> bool:
    """Evaluations that somebody asked for stand beside the curve, not in it."""
    return entry["kind"] in ("step", "law") or (entry["kind"] == "evaluation" and entry.get("ask") is None)


def _new_input(entry: Entry, ledger: Ledger) -> dict[str, int]:
    is_new = entry["kind"] == "evaluation" and entry["digest"] != ledger.digest
    return {entry["digest"]: len(entry["prompt_ids"])} if is_new else {}


def _values(entry: Entry) -> dict[str, float]:
    if entry["kind"] != "evaluation":
        return dict(entry["metrics"])
    evaluation = entry_evaluation(entry)
    return {"eval_reward": evaluation.mean, "eval_reward_stderr": evaluation.standard_error}


def _tags(entry: Entry) -> dict[str, str]:
    if entry["kind"] == "start":
        return {TAG + "attempt": str(entry["attempt"])}
    if entry["kind"] == "checkpoint" and entry["role"] == "best":
        return {BEST_CHECKPOINT: f"step {entry['step']}: {entry['path']}"}
    if entry["kind"] == "diagnosis":
        words = f"{entry['severity']} since step {entry['since_step']}: {entry['evidence']}"
        return {diagnosis_tag(entry["symptom"]): cut(words, 1000)}
    return {TAG + "warning": cut(entry["message"], 1000)} if entry["kind"] == "warning" else {}
