"""What a study has cost in all its processes, and whether its budget has room for one more trial."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from grpo_ops.journal import Entry, RunFolder
from grpo_ops.specs.effort import BudgetSpec

#: User attribute of a trial: what its run has cost, in all attempts: steps, seconds, completions that were asked for.
COST = "grpo_ops.cost"
_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Cost:
    """steps: optimiser steps, repeated ones included. seconds: of trainers. measured: completions asked for."""

    steps: int = 0
    seconds: float = 0.0
    measured: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.steps + other.steps, self.seconds + other.seconds, self.measured + other.measured)

    @property
    def hours(self) -> float:
        return self.seconds / _HOUR


@dataclass
class Meter:
    """The cost of one run, from the lines of its journal: an attempt lasts from its first line to its last one."""

    steps: int = 0
    measured: int = 0
    earlier: float = 0.0
    spans: dict[int, tuple[float, float]] = field(default_factory=dict)

    def take(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            first, _ = self.spans.get(entry["attempt"], (entry["time"], entry["time"]))
            self.spans[entry["attempt"]] = (first, entry["time"])
            self.steps += entry["kind"] == "step"
            if entry["kind"] == "evaluation" and entry.get("ask") is not None:
                self.measured += len(entry["outcomes"])

    @property
    def cost(self) -> Cost:
        return Cost(self.steps, self.earlier + sum(last - first for first, last in self.spans.values()), self.measured)


def read_meter(folder: RunFolder, attributes: Mapping[str, Any]) -> Meter:
    """What a run has cost so far; where it was done elsewhere, as its trial has it."""
    if folder.journal.exists():
        meter = Meter()
        meter.take(folder.entries())
        return meter
    steps, seconds, measured = attributes.get(COST, (0, 0.0, 0))
    return Meter(int(steps), int(measured), float(seconds))


@dataclass(frozen=True)
class Purse:
    """A budget, and the meters of all runs of the study by run_key."""

    budget: BudgetSpec
    meters: dict[str, Meter] = field(default_factory=dict)

    @property
    def spent(self) -> Cost:
        return sum((meter.cost for meter in self.meters.values()), Cost())

    @property
    def money(self) -> float | None:
        """What was spent in money, None where no price is known."""
        price = self.budget.price_per_hour
        return None if price is None else self.spent.hours * price

    def refusal(self, planned: int) -> str | None:
        """Why `planned` further steps do not fit, None where they do. planned: those of live trials and a new one's.

        Seconds of steps to come are those of the steps so far; before the first step nothing is known, and it starts.
        """
        spent = self.spent
        to_come = planned * spent.hours / spent.steps if spent.steps else 0.0
        price = self.budget.price_per_hour or 0.0
        uses = (
            (self.budget.steps, float(spent.steps), float(planned), "steps"),
            (self.budget.hours, spent.hours, to_come, "trial-hours"),
            (self.budget.money, spent.hours * price, to_come * price, "of money"),
        )
        for limit, used, more, unit in uses:
            if limit is not None and (used >= limit or used + more > limit):
                return (
                    f"its budget allows {limit:g} {unit}; {used:.4g} are spent, and one more trial may bring {more:.4g}"
                )
        return None

    def words(self) -> str:
        """What was spent, in words."""
        spent, money = self.spent, self.money
        parts = [f"{spent.steps} steps", f"{spent.hours:.3g} trial-hours"]
        parts += [] if money is None else [f"{money:.4g} of money"]
        parts += [f"{spent.measured} completions to settle close calls"] if spent.measured else []
        return ", ".join(parts)

    def metrics(self) -> dict[str, float]:
        """The same for MLflow."""
        spent, money = self.spent, self.money
        values = {"cost/steps": float(spent.steps), "cost/trial_hours": spent.hours}
        values |= {} if money is None else {"cost/money": money}
        return values | ({"cost/measured_completions": float(spent.measured)} if spent.measured else {})
