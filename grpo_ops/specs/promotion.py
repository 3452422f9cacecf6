"""PromotionSpec: which study's best checkpoint becomes which model's champion, and on what condition."""

from pydantic import Field

from grpo_ops.specs.base import Spec


class PromotionSpec(Spec):
    """One promotion to the MLflow model registry."""

    model: str = Field(pattern=r"^[A-Za-z0-9_.-]{1,128}$")
    """Registered model that gets the new version."""
    study: str = Field(min_length=1)
    """Study whose best checkpoint is taken; `NAME*` takes the newest study whose name starts so."""
    experiment: str = Field("grpo-ops", min_length=1)
    """MLflow experiment that holds the study."""
    alias: str = Field("champion", pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")
    """Alias that is moved to the new version."""
    min_improvement: float = Field(0.0, ge=0)
    """By how much the held-out evaluation must exceed the champion's."""
    min_prompts: int = Field(32, gt=0)
    """Fewest held-out prompts that the evaluation must rest on."""
    max_size_mb: float = Field(500.0, gt=0)
    """Largest artifact that is registered."""
