"""How long is put up with what is no arm's fault: a process that broke off, a device that others use."""

from __future__ import annotations

import time
from collections.abc import Callable

from tuner import spans
from tuner.errors import MeasurementInvalid
from tuner.workers.failure import WorkerFailed

RETRIES = 3
ELSEWHERE = "or choose another GPU with CUDA_VISIBLE_DEVICES"


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


class Wait:
    """``limit_s`` None: another run of attnpin is waited for as long as it takes, anybody else not at all."""

    def __init__(self, limit_s: float | None, now: Callable[[], float] = time.monotonic) -> None:
        self.limit_s = limit_s
        self._now = now
        self._began = now()

    def go_on(self, because: str) -> str:
        """How much has passed, in words. Raises `MeasurementInvalid`, which says ``because``, when the time is over."""
        passed_s = self._now() - self._began
        if self.limit_s is None:
            return f"{spans.words(passed_s)} have passed"
        if passed_s > self.limit_s:
            raise MeasurementInvalid(f"{because}{self._over(self.limit_s)}")
        return f"{spans.words(passed_s)} of {spans.words(self.limit_s)} have passed"

    @staticmethod
    def _over(limit_s: float) -> str:
        if not limit_s:  # a board beside the run's own, for which no setting waits either
            return ", and it is not waited for; free it and run the same command again"
        return f" still after {spans.words(limit_s)}; set wait_for_gpu={spans.written(2 * limit_s)} to wait longer, {ELSEWHERE}"


class Company:
    """Others who are on ``device`` when one of our processes is to begin: each time waited for as those at the job's start."""

    def __init__(self, device: str, limit_s: float | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self.device = device
        self._limit_s = limit_s
        self._now = now
        self._wait: Wait | None = None

    def bear(self, others: str) -> str:
        """How much has passed since they came, in words. Raises `MeasurementInvalid` as `Wait`, and where nobody is waited for."""
        if self._limit_s is None:
            raise MeasurementInvalid(refusal(in_use(self.device, others)))
        self._wait = self._wait or Wait(self._limit_s, self._now)
        return self._wait.go_on(in_use(self.device, others))

    def left(self) -> None:
        self._wait = None


def in_use(device: str, others: str) -> str:
    return f"{device} is used by others: {others}"


def refusal(because: str) -> str:
    return f"{because}; wait until it is free (wait_for_gpu=2h does), {ELSEWHERE}"
