"""The names that Optuna knows for samplers and pruners (a test asks Optuna whether it does), and PrunerSpec."""

from typing import Any, Literal

from pydantic import Field, model_validator

from grpo_ops.specs.base import Spec

#: Short name to class in optuna.samplers: all that optimise one objective and can be made from settings alone.
SAMPLERS = {
    "tpe": "TPESampler",
    "random": "RandomSampler",
    "gp": "GPSampler",
    "cmaes": "CmaEsSampler",
    "qmc": "QMCSampler",
    "grid": "GridSampler",
    "brute_force": "BruteForceSampler",
    "nsgaii": "NSGAIISampler",
    "nsgaiii": "NSGAIIISampler",
}
#: Samplers that go once through all valid points.
EXHAUSTIVE = ("grid", "brute_force")
#: Short name to class in optuna.pruners.
PRUNERS = {
    "median": "MedianPruner",
    "percentile": "PercentilePruner",
    "sha": "SuccessiveHalvingPruner",
    "hyperband": "HyperbandPruner",
    "patient": "PatientPruner",
    "wilcoxon": "WilcoxonPruner",
    "threshold": "ThresholdPruner",
}
PrunerName = Literal["law", "median", "percentile", "sha", "hyperband", "patient", "wilcoxon", "threshold", "none"]


def sampler_name(word: str) -> str:
    """The short name of a sampler given by short or class name (`cmaes`, `CmaEsSampler`, `CMA-ES`).

    Raises ValueError for an unknown one.
    """
    plain = _plain(word).removesuffix("sampler")
    for short in SAMPLERS:
        if plain == _plain(short):
            return short
    raise ValueError(f"{word!r} is no sampler for one objective; known: {', '.join(SAMPLERS)}")


class PrunerSpec(Spec):
    """Which pruner judges the trials."""

    name: PrunerName = "law"
    """`law` is LawPruner's rule; `none` compares nobody; the rest are Optuna's own."""
    caution: float = Field(0.6, gt=0)
    """LawPruner's knob: 0.5 is bold, 0.8 to 1 is careful."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Arguments of Optuna's own pruner under its names: `{min_resource = 24}`; `patient` takes `wrapped` by name."""

    @model_validator(mode="after")
    def _options_belong_to_optunas(self) -> "PrunerSpec":
        if self.options and not self.is_optunas:
            hint = "its knob is caution" if self.name == "law" else "it has none"
            raise ValueError(f"options: they belong to Optuna's own pruners, not to {self.name!r}; {hint}")
        return self

    @property
    def is_optunas(self) -> bool:
        """Whether Optuna's own pruner decides, by what was reported to it."""
        return self.name in PRUNERS


def _plain(word: str) -> str:
    return "".join(letter for letter in word.lower() if letter.isalnum())
