"""Which arm of a process went wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from backends.invalid import failure_of
from backends.outcome import Outcome


class ArmFailed(Exception):
    """One arm cannot go on; the others may race without it, in another process. ``cell`` None: it did not even open."""

    def __init__(self, arm: str, cell: str | None, outcome: Outcome, detail: str) -> None:
        super().__init__(f"{arm}{f' on {cell}' if cell else ''}: {detail}")
        self.arm = arm
        self.cell = cell
        self.outcome = outcome
        self.detail = detail


@contextmanager
def blaming(arm: str, cell: str | None = None) -> Iterator[None]:
    """Exceptions inside become `ArmFailed` of ``arm``."""
    try:
        yield
    except Exception as error:
        failure = failure_of(error)
        raise ArmFailed(arm, cell, failure.outcome, failure.detail) from error
