"""The gates of a promotion. Each is pure: evidence in, verdict and sentence out.

A gate of your own is a function `Evidence -> GateResult`, registered as an entry point in the group `grpo_ops.gates`.
"""

from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import PurePosixPath
from typing import TypeAlias

from grpo_ops.registry.types import Evidence, GateResult

Gate: TypeAlias = Callable[[Evidence], GateResult]

_REFUSED_ENDINGS = ("failed", "diverged")
_FILE_TYPES = (".safetensors", ".json", ".txt", ".jinja", ".md", ".model")


def judge(evidence: Evidence) -> tuple[GateResult, ...]:
    """The verdict of every gate, ours and the installed ones, in order."""
    return tuple(gate(evidence) for gate in gates())


def gates() -> Iterator[Gate]:
    """Our gates, then those of installed packages by name."""
    yield from (evaluated, ended_well, finite, better, file_types, size, base_known)
    for entry in sorted(entry_points(group="grpo_ops.gates"), key=lambda entry: entry.name):
        yield entry.load()


def evaluated(evidence: Evidence) -> GateResult:
    """The evaluation rests on enough held-out prompts."""
    prompts, least = evidence.candidate.score.prompts, evidence.spec.min_prompts
    return GateResult("evaluated", prompts >= least, f"evaluated on {prompts} held-out prompts, {least} are needed")


def ended_well(evidence: Evidence) -> GateResult:
    """The run neither failed nor diverged; one that was pruned may still have the best checkpoint."""
    ending = evidence.candidate.ending
    if ending is None:
        return GateResult("ended well", False, "the run has not ended")
    return GateResult("ended well", ending not in _REFUSED_ENDINGS, f"the run ended as {ending}")


def finite(evidence: Evidence) -> GateResult:
    """No metric of the run was ever NaN or infinite."""
    found = evidence.candidate.nonfinite
    return GateResult("finite", not found, f"not finite: {found}" if found else "all metrics were finite")


def better(evidence: Evidence) -> GateResult:
    """Better than the champion on the same prompts; the first champion must beat its own base."""
    champion = evidence.champion
    if champion is None or champion.score is None:
        return _better_than_base(evidence)
    mine, theirs, margin = evidence.candidate.score, champion.score, evidence.spec.min_improvement
    if mine.digest != theirs.digest:
        sentence = (
            f"cannot be compared with the champion (version {champion.version}): it was evaluated on other prompts "
            f"or decoded otherwise ({theirs.digest[:12]}, here {mine.digest[:12]})"
        )
        return GateResult("better", False, sentence)
    gain = mine.mean - theirs.mean
    needed = f"more than {margin:g} is needed" if margin else "it must be better"
    sentence = f"{mine} against the champion's {theirs} (version {champion.version}): {gain:+.3f}, {needed}"
    return GateResult("better", gain > margin, sentence)


def file_types(evidence: Evidence) -> GateResult:
    """Weights as safetensors, everything else as text: nothing that runs code when it is loaded."""
    refused = [name for name in evidence.candidate.files if PurePosixPath(name).suffix not in _FILE_TYPES]
    if refused:
        return GateResult("file types", False, f"not safetensors, JSON or text: {', '.join(sorted(refused)[:5])}")
    return GateResult("file types", True, f"{len(evidence.candidate.files)} files: safetensors, JSON and text only")


def size(evidence: Evidence) -> GateResult:
    """Not larger than the spec allows."""
    megabytes, most = evidence.candidate.megabytes, evidence.spec.max_size_mb
    return GateResult("size", 0 < megabytes <= most, f"{megabytes:.2f} MB of at most {most:g} MB")


def base_known(evidence: Evidence) -> GateResult:
    """The model that an adapter belongs to can be named, and is at hand if it is a local one."""
    base, is_adapter = evidence.candidate.base, evidence.candidate.is_adapter
    if not is_adapter:
        return GateResult("base known", True, f"full weights, trained from {base.id}")
    if base.path is not None and base.hash is None:
        return GateResult("base known", False, f"an adapter of {base.id}, whose weights are not at {base.path}")
    seal = f"sha256 {base.hash[:12]}" if base.hash else f"revision {base.revision or 'not pinned'}"
    return GateResult("base known", True, f"an adapter of {base.id} ({seal})")


def _better_than_base(evidence: Evidence) -> GateResult:
    mine, base, margin = evidence.candidate.score, evidence.candidate.baseline, evidence.spec.min_improvement
    if base is None:
        return GateResult("better", False, "there is no champion, and no evaluation before training to compare with")
    gain = mine.mean - base
    sentence = f"{mine} against {base:.3f} before training: {gain:+.3f} (there is no champion yet)"
    return GateResult("better", gain > margin, sentence)
