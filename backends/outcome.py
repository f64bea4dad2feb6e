"""What became of an attempt: a closed set, and which numbers each member may carry."""

from __future__ import annotations

from enum import Enum


class Outcome(str, Enum):
    """MEASURED alone carries times. All others carry a one-sentence detail."""

    MEASURED = "measured"
    MISSING_PACKAGE = "missing package"
    REFUSED = "refused"  # the engine or library said no when it was built or called
    BUILD_FAILED = "build failed"
    INCORRECT = "incorrect"
    OUT_OF_MEMORY = "out of memory"
    CRASHED = "crashed"
    TIMED_OUT = "timed out"
    IMPLAUSIBLE = "implausible"  # faster than memory or arithmetic allow
    FELL_BACK = "fell back"  # ran something else than was asked for
    INTERRUPTED = "interrupted"  # broken off from outside; says nothing of the arm
