"""What becomes of an arm, as a verb: "flashinfer/p1 on decode-1 crashes". Pure."""

from __future__ import annotations

from backends.outcome import Outcome

VERBS = {
    Outcome.MEASURED: "is measured",
    Outcome.MISSING_PACKAGE: "misses a package",
    Outcome.REFUSED: "is refused",
    Outcome.BUILD_FAILED: "does not build",
    Outcome.INCORRECT: "is incorrect",
    Outcome.OUT_OF_MEMORY: "runs out of memory",
    Outcome.CRASHED: "crashes",
    Outcome.TIMED_OUT: "times out",
    Outcome.IMPLAUSIBLE: "is implausibly fast",
    Outcome.FELL_BACK: "falls back",
    Outcome.INTERRUPTED: "is interrupted",
}


def ends(outcome: Outcome) -> str:
    return VERBS[outcome]
