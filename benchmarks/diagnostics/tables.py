"""The two tables: who names the failure of a scenario, and who cries wolf over recorded runs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from benchmarks.diagnostics.scenarios import HEALTHY, TRUTHS

TOOLS = ("rldoctor", "rlprobe", "ours")
ALARMS = ("warning", "critical")

Findings = Sequence[Sequence[str]]
Verdicts = Mapping[str, Mapping[str, Findings]]
Judgements = Mapping[tuple[str, str, str], tuple[str, str]]


def scenario_table(verdicts: Verdicts) -> Iterator[str]:
    """By scenario and tool: of the runs, how many were called by the right name / as a warning at least / first."""
    yield "| scenario | runs | " + " | ".join(TOOLS) + " | ours says |"
    yield "|---|---|" + "---|" * (len(TOOLS) + 1)
    totals = {tool: Counter[str]() for tool in TOOLS}
    for scenario, truth in TRUTHS.items():
        runs = _of(verdicts, scenario)
        cells = {tool: _counted([run[tool] for run in runs], truth.of(tool)) for tool in TOOLS}
        for tool in TOOLS:
            totals[tool].update(cells[tool])
            totals[tool]["scenarios"] += cells[tool]["named"] == len(runs)
        said = _common(run["ours"] for run in runs)
        yield f"| {scenario} | {len(runs)} | " + " | ".join(_cell(cells[tool]) for tool in TOOLS) + f" | {said} |"
    yield (
        f"| **all** | {len(TRUTHS) * len(runs)} | "
        + " | ".join(f"**{_cell(totals[tool])}**" for tool in TOOLS)
        + " | |"
    )
    named = " | ".join(str(totals[tool]["scenarios"]) for tool in TOOLS)
    yield f"| scenarios named in every run | of {len(TRUTHS)} | {named} | |"
    for family in ("rldoctor", "rlprobe"):
        runs = _of(verdicts, f"{family}/{HEALTHY}")
        wolves, said = " | ".join(_flagged(runs, tool) for tool in TOOLS), _common(run["ours"] for run in runs)
        yield f"| {family}/{HEALTHY}: runs with an alarm | {len(runs)} | {wolves} | {said} |"


def alarm_table(verdicts: Verdicts, families: Mapping[str, str], judgements: Judgements) -> Iterator[str]:
    """By source and tool: runs with an alarm, alarms, and those that were judged false or unclear."""
    yield "| source | runs | tool | runs with an alarm | alarms | false | unclear |"
    yield "|---|---|---|---|---|---|---|"
    for family in dict.fromkeys(families.values()):
        keys = [key for key, own in families.items() if own == family]
        for tool in TOOLS:
            alarms = [(tool, key, name) for key in keys for name in _alarms(verdicts[key][tool])]
            flagged = len({key for _, key, _ in alarms})
            counts = [_count(alarms, judgements, kind, family, tool) for kind in ("false", "unclear")]
            yield f"| {family} | {len(keys)} | {tool} | {flagged} | {len(alarms)} | {counts[0]} | {counts[1]} |"


def our_alarms(verdicts: Verdicts, judgements: Judgements) -> Iterator[str]:
    """Every alarm of ours with what was said of it after a look."""
    yield "| run | alarm | judgement | why |"
    yield "|---|---|---|---|"
    for key, found in verdicts.items():
        for name in _alarms(found["ours"]):
            judgement, why = judgements.get(("ours", key, name), ("NOT JUDGED", ""))
            yield f"| {key} | {name} | {judgement} | {why} |"


def their_false_alarms(judgements: Judgements) -> Iterator[str]:
    """The rivals' alarms that were called false or unclear."""
    yield "| tool | run | alarm | judgement | why |"
    yield "|---|---|---|---|---|"
    for (tool, key, name), (judgement, why) in sorted(judgements.items()):
        if tool != "ours":
            yield f"| {tool} | {key} | {name} | {judgement} | {why} |"


def _count(alarms: list[tuple[str, str, str]], judgements: Judgements, kind: str, family: str, tool: str) -> str:
    """The rivals were not judged on the curves that our thresholds were set by."""
    if tool != "ours" and family == "public, tuned on":
        return "not judged"
    return str(sum(judgements.get(alarm, ("", ""))[0] == kind for alarm in alarms))


def _of(verdicts: Verdicts, scenario: str) -> list[Mapping[str, Findings]]:
    return [found for key, found in verdicts.items() if key.startswith(f"{scenario}/")]


def _counted(runs: list[Findings], right: frozenset[str]) -> Counter[str]:
    counts = Counter[str](named=0, warned=0, first=0)
    for findings in runs:
        names = [name for name, _ in findings]
        counts["named"] += any(name in right for name in names)
        counts["warned"] += any(name in right for name in _alarms(findings))
        counts["first"] += bool(names) and names[0] in right
    return counts


def _cell(counts: Counter[str]) -> str:
    return f"{counts['named']} / {counts['warned']} / {counts['first']}"


def _common(runs: Iterable[Findings]) -> str:
    """The names and how often, the most frequent first."""
    counts = Counter(name for findings in runs for name, _ in findings)
    return ", ".join(f"{name} {count}" for name, count in counts.most_common()) or "nothing"


def _flagged(runs: list[Mapping[str, Findings]], tool: str) -> str:
    return str(sum(bool(_alarms(run[tool])) for run in runs))


def _alarms(findings: Findings) -> list[str]:
    return list(dict.fromkeys(name for name, severity in findings if severity in ALARMS))
