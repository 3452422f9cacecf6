"""What a study may use: slots and devices, retries, a budget, and what is given to trials that were stopped."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field, model_validator

from grpo_ops.specs.base import Spec


class BudgetSpec(Spec):
    """What all trials of a study may use together; whichever runs out first ends the study.

    A trial is started only where it fits in full, so a budget is not exceeded; trials that run are never cut short.
    """

    steps: int | None = Field(None, gt=0)
    """Optimiser steps, those that a crash makes a trial repeat included."""
    hours: float | None = Field(None, gt=0)
    """Trial-hours: two trials side by side for one hour are two. From a trainer's start to its last sign of life."""
    money: float | None = Field(None, gt=0)
    """In the currency of price_per_hour."""
    price_per_hour: float | None = Field(None, gt=0)
    """What one trial-hour costs, that is one slot with all of its devices."""

    @model_validator(mode="after")
    def _money_has_a_price(self) -> "BudgetSpec":
        if self.money is not None and self.price_per_hour is None:
            raise ValueError(f"money = {self.money:g} needs price_per_hour, the price of one trial-hour")
        return self


class EffortSpec(Spec):
    """The part of a SweepSpec that may differ between two starts of one study."""

    parallel: int = Field(1, gt=0)
    """Trials that train at the same time, each in a process of its own; with `devices` one for each of them."""
    devices: tuple[str, ...] = ()
    """One slot for each: the CUDA_VISIBLE_DEVICES of its trial, such as `["0", "1", "2,3"]`. Without it all see all."""
    retries: int = Field(2, ge=0)
    """How often a failed trial is continued from its last checkpoint."""
    budget: BudgetSpec = BudgetSpec()
    measure: bool = False
    """At a close call, evaluate the same prompts once more with another sampling seed before the trial is judged."""
    thaw: float = Field(0.0, ge=0, le=1)
    """Share of the steps saved by stopping trials that the most promising of them get back when all trials are over."""

    @model_validator(mode="before")
    @classmethod
    def _one_trial_a_device(cls, data: Any) -> Any:
        """`parallel` follows from `devices` where it is not given."""
        devices = data.get("devices") if isinstance(data, Mapping) else None
        if devices and isinstance(devices, list | tuple) and "parallel" not in data:
            return {**data, "parallel": len(devices)}
        return data

    @model_validator(mode="after")
    def _slots_fit_the_devices(self) -> "EffortSpec":
        faults = list(_device_faults(self.devices))
        if self.devices and self.parallel > len(self.devices):
            faults.append(
                f"parallel: {self.parallel} trials at a time need as many device sets, but devices names "
                f"{len(self.devices)}: {', '.join(self.devices)}"
            )
        if faults:
            raise ValueError("\n".join(faults))
        return self


def _device_faults(devices: tuple[str, ...]) -> Iterator[str]:
    named = [part.strip() for device in devices for part in device.split(",")]
    if not all(named):
        yield f"devices: {list(devices)} has an empty name; write each set as in '0' or '2,3'"
    for name, count in Counter(named).items():
        if count > 1 and name:
            yield f"devices: device {name} is named {count} times, and two trials must not share one"
