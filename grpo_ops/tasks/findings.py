"""What is odd in a reward's answers to the probes, one sentence each."""

from collections.abc import Iterator

from grpo_ops.tasks.checkup import Answer, Examined, Finding

_SLOW_SECONDS = 0.1
_CLOSE = 1e-9


def call_findings(examined: Examined) -> Iterator[Finding]:
    """What is wrong with the calls: errors are faults, for they end a run; the rest is for a person to judge."""
    raised = [answer for answer in examined.answers if answer.error is not None]
    if raised:
        said = f"fails on {_named(raised)}, which would end a run: {raised[0].error}"
        yield Finding(examined.name, said, is_fault=True)
    late = [answer for answer in examined.answers if answer.timeouts]
    if late:
        yield Finding(examined.name, f"ran out of time on {_named(late)}, and gives None there", is_fault=False)
    unsteady = [answer for answer in examined.answers if not answer.is_steady]
    if unsteady:
        said = f"gave {_named(unsteady)} other values when it was asked again: runs cannot be repeated"
        yield Finding(examined.name, said, is_fault=False)
    slowest = max(examined.answers, key=lambda answer: answer.seconds / len(answer.values))
    seconds = slowest.seconds / len(slowest.values)
    if seconds > _SLOW_SECONDS and not late:
        said = f"takes {seconds:.2g} s a completion on {_named([slowest])}: every step waits for it"
        yield Finding(examined.name, said, is_fault=False)


def level_findings(examined: Examined, *, is_all: bool) -> list[Finding]:
    """What is wrong with the values. is_all: whether these are the values that a training optimises."""
    if any(answer.error is not None for answer in examined.answers):
        return []
    flat = _flat(examined)
    if flat is not None:
        return [Finding(examined.name, flat, is_fault=is_all)]
    empty = _empty(examined)
    found = [] if empty is None else [Finding(examined.name, empty, is_fault=is_all)]
    return found + [Finding(examined.name, sentence, is_fault=False) for sentence in _confused(examined)]


def _flat(examined: Examined) -> str | None:
    """A group of completions of one prompt that all have one value teaches nothing."""
    rows = zip(*(answer.values for answer in examined.answers), strict=True)
    groups = [{value for value in row if value is not None} for row in rows]
    if any(len(group) > 1 for group in groups):
        return None
    if not any(groups):
        return "gives None to everything: nothing is scored"
    return "never differs inside a group: for one prompt it gives every completion that was tried the same value"


def _empty(examined: Examined) -> str | None:
    right, empty, lowest = examined.best("right"), examined.best("empty"), examined.lowest
    if right is None or empty is None or lowest is None or empty <= lowest + _CLOSE or empty < right - _CLOSE:
        return None
    return f"accepts an empty answer: it gives it {empty:.3g}, and the right answer at most {right:.3g}"


def _confused(examined: Examined) -> Iterator[str]:
    right, wrong, listing = examined.best("right"), examined.best("wrong"), examined.best("listing")
    if right is None:
        return
    if wrong is not None and wrong >= right - _CLOSE:
        yield (
            f"gives a wrong answer as much as the right one ({wrong:.3g}): it does not look at the answer, or expects "
            "another form than those that were tried"
        )
    elif listing is not None and listing >= right - _CLOSE:
        yield f"gives a list of all answers as much as the right one ({listing:.3g})"


def _named(answers: list[Answer]) -> str:
    names = ", ".join(repr(answer.probe.name) for answer in answers[:3])
    return names + (f" and {len(answers) - 3} more" if len(answers) > 3 else "")
