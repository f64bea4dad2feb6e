"""How often a process that broke off through no arm's fault is started again."""

from __future__ import annotations

from tuner.errors import MeasurementInvalid
from tuner.workers.failure import WorkerFailed

RETRIES = 3


class Patience:
    """With one piece of work, named ``what`` in the message that ends it."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._failures = 0

    def bear(self, failure: WorkerFailed) -> None:
        """Raises `MeasurementInvalid` when this has happened too often; what was measured so far stays stored."""
        self._failures += 1
        if self._failures > RETRIES:
            text = f"{self._what} broke off {self._failures} times, last with: {failure.detail}; run the same command again"
            raise MeasurementInvalid(text) from failure
