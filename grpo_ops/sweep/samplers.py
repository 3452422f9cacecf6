"""The sampler that a spec names, held to what is valid in its space."""

import importlib.util
import math

import optuna
from optuna.samplers import BaseSampler

from grpo_ops.errors import SweepError
from grpo_ops.specs import EXHAUSTIVE, SAMPLERS, SweepSpec
from grpo_ops.sweep.exhaustive import Exhaustive
from grpo_ops.sweep.held import Held
from grpo_ops.sweep.options import made

#: What Optuna imports only when a sampler first draws.
_PACKAGES = {"cmaes": ("cmaes",), "gp": ("torch", "scipy"), "qmc": ("scipy",)}
#: Samplers whose points do not depend on results.
UNLEARNING = ("random", "qmc", *EXHAUSTIVE)
_MOST_POINTS = 100_000


def make_sampler(spec: SweepSpec, drawn: int) -> BaseSampler:
    """The sampler of `spec` for a study with `drawn` trials, seeded so that a continued one draws new points.

    Raises SweepError where a package is missing, an option is wrong, or a grid has fewer points than trials.
    """
    if spec.sampler in EXHAUSTIVE:
        return _exhaustive(spec)
    _require_packages(spec.sampler)
    if "seed" in spec.sampler_options:
        raise SweepError("sampler_options.seed: write it as the sweep's own seed = N")
    kind = getattr(optuna.samplers, SAMPLERS[spec.sampler])
    base: BaseSampler = made(kind, spec.sampler_options, "sampler_options", _defaults(spec, drawn))
    if not spec.searched.linked:
        return base
    tries = 2 if spec.sampler == "gp" else 10  # a GP takes a second a proposal, and insists
    return Held(base, spec.searched, spec.seed + 7919 * drawn, tries)


def _defaults(spec: SweepSpec, drawn: int) -> dict[str, object]:
    """QMC numbers its points in the study, so its seed stays; all others would draw their first points again."""
    seed = spec.seed if spec.sampler == "qmc" else spec.seed + 7919 * drawn
    defaults: dict[str, object] = {"seed": seed}
    if spec.sampler in ("gp", "cmaes", "qmc"):
        defaults["warn_independent_sampling"] = False  # they cannot but draw choices, or conditional settings, alone
    if spec.sampler in ("tpe", "gp"):
        defaults["n_startup_trials"] = min(10, max(2, spec.trials // 2))
    if spec.sampler == "tpe" and any(values.only_if for values in spec.space.values()):
        defaults |= {"multivariate": True, "group": True}  # else conditional settings would be drawn one by one
    return defaults


def _require_packages(name: str) -> None:
    missing = [package for package in _PACKAGES.get(name, ()) if importlib.util.find_spec(package) is None]
    if missing:
        raise SweepError(f"sampler = {name!r} needs {' and '.join(missing)}: pip install {' '.join(missing)}")


def _exhaustive(spec: SweepSpec) -> Exhaustive:
    space = spec.searched
    if spec.sampler_options:
        raise SweepError(f"sampler_options: {spec.sampler} takes none, but got {', '.join(spec.sampler_options)}")
    sizes = {path: values.listed(whole) for path, (values, whole) in space.axes.items()}
    endless = [path for path, values in sizes.items() if values is None]
    if endless:
        raise SweepError(f"space.{endless[0]}: {spec.sampler} needs choices, whole numbers or a step")
    count = math.prod(len(values or ()) for values in sizes.values())
    if count > _MOST_POINTS:
        raise SweepError(f"space: {count} points are too many for {spec.sampler}; take random or tpe")
    points = list(space.points())
    if spec.trials > len(points):
        raise SweepError(f"trials: {spec.trials} are more than the {len(points)} valid points of the space")
    return Exhaustive(points, spec.seed)
