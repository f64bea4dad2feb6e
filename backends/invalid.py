"""From what went wrong to a stored outcome."""

from __future__ import annotations

from backends.checks.tolerance import Incorrect
from backends.driver import FellBack
from backends.outcome import Outcome
from backends.timing.roofline import Implausible
from backends.worker.failures import Failure, describe

# Findings of the measuring itself; everything else is the library's or the machine's exception.
FINDINGS: tuple[tuple[type[Exception], Outcome], ...] = (
    (Incorrect, Outcome.INCORRECT),
    (Implausible, Outcome.IMPLAUSIBLE),
    (FellBack, Outcome.FELL_BACK),
)


def failure_of(error: Exception) -> Failure:
    """Outcome, one sentence, and whether the process can go on."""
    for kind, outcome in FINDINGS:
        if isinstance(error, kind):
            return Failure(outcome, str(error))
    return describe(error)
