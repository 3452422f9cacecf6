"""Why a trial is stopped or goes on. The reason is the decision."""

from enum import StrEnum


class PruneReason(StrEnum):
    """Three reasons stop a trial; with every other one it goes on."""

    HOPELESS = "hopeless"
    DIVERGED = "diverged"
    PLATEAU = "plateau"
    TOO_FEW_POINTS = "too_few_points"
    NO_HORIZON = "no_horizon"
    NOT_A_CHECK = "not_a_check"
    NO_INCUMBENT = "no_incumbent"
    TOO_ALIKE = "too_alike"
    LEADING = "leading"
    CLOSE_CALL = "close_call"
    SLOW_START = "slow_start"
    WITHIN_REACH = "within_reach"

    @property
    def stops(self) -> bool:
        return self in (PruneReason.HOPELESS, PruneReason.DIVERGED, PruneReason.PLATEAU)

    @property
    def words(self) -> str:
        """One sentence for people."""
        return _WORDS[self]


_WORDS = {
    PruneReason.HOPELESS: "even a hopeful forecast does not reach the incumbent",
    PruneReason.DIVERGED: "it has fallen far below its own best and does not come back",
    PruneReason.PLATEAU: "it has given nearly all that its forecast promises",
    PruneReason.TOO_FEW_POINTS: "too few points to judge by",
    PruneReason.NO_HORIZON: "its planned length is not known, so nothing can be forecast",
    PruneReason.NOT_A_CHECK: "no check is due at this step",
    PruneReason.NO_INCUMBENT: "there is no other trial to compare it with yet",
    PruneReason.TOO_ALIKE: "so early the trials cannot be told apart",
    PruneReason.LEADING: "it is at least level with the incumbent at the same step",
    PruneReason.CLOSE_CALL: "it is behind the incumbent by no more than noise explains",
    PruneReason.SLOW_START: "it is behind, but finished trials still rose a lot from here",
    PruneReason.WITHIN_REACH: "it is behind, but its forecast can still reach the incumbent",
}
