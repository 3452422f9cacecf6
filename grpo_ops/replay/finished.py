"""Which trials of a sweep ran to their end: one that was stopped has no known score, and says nothing of a rule."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from grpo_ops.errors import CurveError
from grpo_ops.replay.sources import Source

_FINISHED = "finished"
T = TypeVar("T")


def only_finished(source: Source) -> Source:
    """`source` without the trials whose recorded ending is another than `finished`, with a note that says so.

    A trial without an ending counts as finished. Raises CurveError where no trial is left.
    """
    kept = [place for place, ending in enumerate(source.endings) if ending in (None, _FINISHED)]
    if len(kept) == len(source.endings):
        return source
    why = _why([ending for ending in source.endings if ending not in (None, _FINISHED)])
    if not kept:
        raise CurveError(f"no trial of {source.name} ran to its end ({why}), so no score is known to compare with")
    left_out = len(source.endings) - len(kept)
    note = (
        f"{left_out} of {len(source.endings)} trials left out: they were ended early ({why}), "
        "and how they would have gone on is not known"
    )
    return replace(
        source,
        curves=_at(source.curves, kept),
        params=_at(source.params, kept),
        names=_at(source.names, kept),
        evaluations=_at(source.evaluations, kept),
        outcomes=_at(source.outcomes, kept),
        endings=_at(source.endings, kept),
        notes=(*source.notes, note),
    )


def _at(column: tuple[T, ...], kept: Sequence[int]) -> tuple[T, ...]:
    return tuple(column[place] for place in kept) if column else ()


def _why(endings: Sequence[str | None]) -> str:
    return ", ".join(f"{count} {ending}" for ending, count in Counter(endings).most_common())
