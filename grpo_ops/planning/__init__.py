"""What a run will take, before anything is loaded: parameters, memory, FLOPs, steps, hours, money."""

from grpo_ops.planning.architecture import Architecture, Attention, Matrix
from grpo_ops.planning.hardware import GPUS, Gpu, gpu_named
from grpo_ops.planning.plan import plan_run
from grpo_ops.planning.reading import architecture_of
from grpo_ops.planning.timing import Efficiency
from grpo_ops.planning.types import RunPlan

__all__ = [
    "GPUS",
    "Architecture",
    "Attention",
    "Efficiency",
    "Gpu",
    "Matrix",
    "RunPlan",
    "architecture_of",
    "gpu_named",
    "plan_run",
]
