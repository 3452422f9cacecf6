"""fit_all(): every law on one curve, the best first."""

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from grpo_ops.curve import RewardCurve
from grpo_ops.law.fitting import fit
from grpo_ops.law.logistic import logistic
from grpo_ops.law.oscillator import damped
from grpo_ops.law.rise_and_decline import rise_and_decline
from grpo_ops.law.saturation import exponential
from grpo_ops.law.scalerl import scalerl
from grpo_ops.law.types import Law, LawFit

#: By name, so that LAWS[fit.law].predict(x, np.array([*fit.params.values()])) is the fitted path.
LAWS: Mapping[str, Law] = MappingProxyType(
    {law.name: law for law in (exponential, logistic, scalerl, damped, rise_and_decline)}
)


def fit_all(curve: RewardCurve, laws: Iterable[Law] = tuple(LAWS.values())) -> tuple[LawFit, ...]:
    """The fit of each law, lowest AICc first; those without parameters last, in the order of `laws`.

    AICc takes the noise for independent; a difference below about 4 decides nothing.
    """
    return tuple(sorted((fit(curve, law) for law in laws), key=_rank))


def _rank(one: LawFit) -> float:
    return one.aicc if one.params and math.isfinite(one.aicc) else math.inf
