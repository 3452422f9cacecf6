"""The colours of pictures: Okabe and Ito's, told apart with any kind of colour vision, and by lightness in print."""

from grpo_ops.law import Phase
from grpo_ops.law.diagnostics import Severity

POINT, SMOOTH, LAW, BAND, MARK, QUIET, SIBLING = (
    "#999999",
    "#000000",
    "#E69F00",
    "#0072B2",
    "#D55E00",
    "#666666",
    "#BBBBBB",
)
PHASES = {
    Phase.SLOW_START: "#F0E442",
    Phase.RISE: "#009E73",
    Phase.PLATEAU: "#56B4E9",
    Phase.DECLINE: "#D55E00",
    Phase.NO_SIGNAL: "#BBBBBB",
}
SEVERITIES = {Severity.INFO: "#666666", Severity.WARNING: "#CC79A7", Severity.CRITICAL: "#D55E00"}
