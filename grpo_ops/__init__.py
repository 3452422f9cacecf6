"""grpo-ops: forecast, stop and promote GRPO fine-tuning runs. Importing it costs nearly nothing."""

from typing import Any

__version__ = "0.1.0"
__all__ = ["LawPruner", "__version__"]


def __getattr__(name: str) -> Any:
    if name == "LawPruner":
        from grpo_ops.pruning import LawPruner

        return LawPruner
    raise AttributeError(f"module 'grpo_ops' has no attribute {name!r}")
