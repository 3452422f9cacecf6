"""Curves from files: CSV, Parquet, trainer_state.json, our journal. What was mended on the way is said."""

from grpo_ops.reading.reading import Reading, read_curve

__all__ = ["Reading", "read_curve"]
