"""What a user is told when a command cannot do its work, and the exit code that goes with it.

    AttnpinError
    |-- UsageError          2  the request itself is wrong: an option, a file, a GPU that is not there
    |-- Incomplete          3  it ran, but the answer is missing, or something under a pin has changed
    |-- MeasurementInvalid  4  what was measured, or the place it ran in, cannot be trusted
    `-- WrongResults        5  what would be served answers wrongly: the pick's kernels, or without a pick the default's

Every message is one sentence that names the thing, its value and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable

OK = 0
REGRESSED = 1  # slower than it was or is to be, or no longer served as pinned; nothing else leaves with it
INTERNAL_FAULT = 70
INTERRUPTED = 130
PIPE_CLOSED = 141  # the reader of our output went away, as a shell reports it (128 + SIGPIPE)
# gravest first: what ended early, then a fault of ours, then the answers
GRAVITY = (INTERRUPTED, PIPE_CLOSED, INTERNAL_FAULT, 5, 4, 2, 1, 3, OK)


class AttnpinError(Exception):
    """A failure that is not a fault of attnpin; the command line prints its text alone."""

    exit_code: int = INTERNAL_FAULT


class UsageError(AttnpinError):
    exit_code = 2


class Incomplete(AttnpinError):
    exit_code = 3


class MeasurementInvalid(AttnpinError):
    exit_code = 4


class WrongResults(AttnpinError):
    exit_code = 5


def worst(codes: Iterable[int]) -> int:
    """The gravest of several exit codes; 0 when there are none."""
    return min(codes, key=GRAVITY.index, default=OK)
