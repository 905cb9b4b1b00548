"""How the search for one pre-image ended."""

from __future__ import annotations

from enum import StrEnum

from mercer.exceptions import Remedy


class Status(StrEnum):
    """What happened to one point; equal to its text, and with what can be done about it.

    Examples
    --------
    >>> from mercer.preimage import Status
    >>> Status.LIMIT == "iteration limit", Status.LIMIT.remedy
    (True, 'raise max_iter of the pre-image solver')
    """

    #: What to do about it; empty where nothing is amiss.
    remedy: str

    CONVERGED = "converged", ""
    #: It converged from another start.
    RESTARTED = "restarted", ""
    #: By a formula, which minimises nothing.
    DIRECT = "direct", ""
    #: On purpose.
    EARLY = "stopped early", ""
    #: A point that was at hand is nearer to the projection: on purpose, a smoother smooths.
    NOT_A_MINIMUM = "not a minimum", ""
    LIMIT = (
        "iteration limit",
        Remedy("raise max_iter of the pre-image solver", shell="fit with another --preimage"),
    )
    STALLED = "stalled", "raise tol, or use a kernel without kinks, or preimage='smoother'"
    FAILED = "failed", "use another kernel width, or preimage='nearest'"

    def __new__(cls, text: str, remedy: str) -> Status:
        member = str.__new__(cls, text)
        member._value_ = text
        member.remedy = remedy
        return member
