"""GPUs by name: what they compute, hold and cost. Numbers of data sheets; prices are to be overridden."""

import difflib
from dataclasses import dataclass, replace

from grpo_ops.errors import PlanError


@dataclass(frozen=True, slots=True)
class Gpu:
    """One device.

    flops: peak FLOP/s of dense bfloat16 matrix products (the T4 has float16 only); flops_float32: of float32 without
    TF32. From NVIDIA's data sheets, without sparsity. bandwidth: of its memory, in bytes per second, from the same.
    memory: in bytes, as the driver shows it. price: US dollars an hour, a typical on-demand list price of 2025; prices
    differ by a factor of three between providers.
    """

    name: str
    flops: float
    flops_float32: float
    memory: float
    bandwidth: float
    price: float

    @property
    def is_cpu(self) -> bool:
        return self.name == "CPU"


def _row(name: str, tflops: float, float32: float, gib: float, gb_per_s: float, price: float) -> Gpu:
    return Gpu(name, tflops * 1e12, float32 * 1e12, gib * 1024**3, gb_per_s * 1e9, price)


#: The CPU is two cores of a server with 16 GiB: its peak is a round number, no data sheet's.
GPUS = (
    _row("A100-40", 312, 19.5, 40, 1555, 1.30),
    _row("A100-80", 312, 19.5, 80, 2039, 1.80),
    _row("H100", 989, 67, 79.6, 3350, 3.00),
    _row("H200", 989, 67, 140.4, 4800, 3.80),
    _row("B200", 2250, 75, 179, 8000, 5.50),
    _row("L4", 121, 30.3, 22.5, 300, 0.80),
    _row("L40S", 362, 91.6, 45, 864, 1.60),
    _row("A10G", 70, 31.5, 22.5, 600, 1.20),
    _row("RTX4090", 165, 82.6, 24, 1008, 0.50),
    _row("T4", 65, 8.1, 15, 320, 0.50),
    _row("CPU", 0.1, 0.1, 16, 20, 0.10),
)


def gpu_named(name: str, price: float | None = None) -> Gpu:
    """The device of that name, in any case; `price` (US dollars an hour) replaces the table's. Raises PlanError."""
    known = {_plain(gpu.name): gpu for gpu in GPUS} | {"a100": GPUS[1]}
    if price is not None and not 0 <= price < float("inf"):
        raise PlanError(f"--price is a price an hour, 0 or more, but got {price:g}")
    if _plain(name) not in known:
        close = difflib.get_close_matches(_plain(name), known, n=1)
        meant = f"; did you mean {known[close[0]].name}?" if close else ""
        raise PlanError(f"--gpu {name!r} is not in the table; known: {', '.join(gpu.name for gpu in GPUS)}{meant}")
    gpu = known[_plain(name)]
    return gpu if price is None else replace(gpu, price=price)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
