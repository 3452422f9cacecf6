"""Slots: which devices each live trial may see. No two live trials ever share one."""

from dataclasses import dataclass, field

VISIBLE = "CUDA_VISIBLE_DEVICES"


@dataclass(eq=False)
class Slot:
    """A place for one trial. devices: its CUDA_VISIBLE_DEVICES, None where it sees what its sweep sees."""

    devices: str | None

    @property
    def environment(self) -> dict[str, str]:
        return {} if self.devices is None else {VISIBLE: self.devices}


@dataclass
class Slots:
    """All places of a sweep; a place is taken before its trial starts and released when its trainer is gone."""

    free: list[Slot] = field(default_factory=list)

    @classmethod
    def of(cls, parallel: int, devices: tuple[str, ...]) -> "Slots":
        return cls([Slot(name) for name in devices[:parallel]] if devices else [Slot(None) for _ in range(parallel)])

    def take(self) -> Slot:
        return self.free.pop(0)

    def release(self, slot: Slot) -> None:
        self.free.append(slot)
