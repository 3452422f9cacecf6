"""`grpo-ops plan`: what a run or a sweep will take, before anything is loaded."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

from grpo_ops.cli.plan_table import print_plan
from grpo_ops.errors import PlanError, SpecError
from grpo_ops.home import make_quiet
from grpo_ops.planning import Efficiency, plan_run
from grpo_ops.specs import RunSpec, SweepSpec, load_any


@dataclass(frozen=True)
class PlanOptions:
    """As given on the command line; None: not given. tokens: mean length of a completion."""

    gpu: str | None = None
    gpus: int | None = None
    price: float | None = None
    tokens: float | None = None
    training: float | None = None
    decoding: float | None = None

    @property
    def efficiency(self) -> Efficiency:
        """The shares of the peaks. Raises PlanError for one that is no share."""
        given = {"training": self.training, "decoding": self.decoding}
        for name, share in given.items():
            if share is not None and not 0 < share <= 1:
                raise PlanError(f"--{name}-share is a share of the peak, above 0 and at most 1, but got {share:g}")
        return replace(Efficiency(), **{name: share for name, share in given.items() if share is not None})


def plan_command(file: Path, settings: tuple[str, ...], options: PlanOptions, as_json: bool) -> int:
    """Print the plan of the run or sweep in `file`."""
    make_quiet()
    spec = _spec(file, settings)
    plan = plan_run(
        spec,
        options.gpu,
        gpus=options.gpus,
        price=options.price,
        completion=options.tokens,
        efficiency=options.efficiency,
    )
    if as_json:
        print(json.dumps(plan.as_dict(), indent=1))
    else:
        print_plan(plan)
    return 0


def _spec(file: Path, settings: tuple[str, ...]) -> RunSpec | SweepSpec:
    spec = load_any(file, settings)
    if not isinstance(spec, RunSpec | SweepSpec):
        raise SpecError(str(file), [f"this is a {type(spec).__name__}; a plan is made of a run or a sweep"])
    return spec
