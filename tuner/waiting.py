"""Until the device is ours alone: its lock keeps other runs of attnpin away, NVML tells of everybody else."""

from __future__ import annotations

import time
from collections.abc import Callable

from tuner import spans
from tuner.errors import MeasurementInvalid
from tuner.machine import refuse_busy, used_by_others
from tuner.session import Facts, Session

LOOK_EVERY_S = 5.0


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
            raise MeasurementInvalid(
                f"{because} still after {spans.words(self.limit_s)}; wait longer with --wait-for-gpu, "
                "or choose another GPU with CUDA_VISIBLE_DEVICES"
            )
        return f"{spans.words(passed_s)} of {spans.words(self.limit_s)} have passed"


def take_device(session: Session, key: str, owner: str, wait: Wait) -> Facts:
    """Hold the lock ``key`` as ``owner`` and return what is known of the device once others have left it.

    Raises `MeasurementInvalid` when they have not in time.
    """
    session.lock(key, owner, wait.go_on)
    facts = session.facts(())  # only now, since a run that was waited for used the device before
    session.clock.enter("waiting")
    while wait.limit_s is not None and (others := used_by_others(facts)):
        name = facts.environment.board.name
        session.progress.phase(f"waiting until {name} is free", f"{others}; {wait.go_on(f'{name} is used by others: {others}')}")
        time.sleep(LOOK_EVERY_S)
        facts = session.facts(())
    refuse_busy(facts)
    session.clock.enter("import")
    return facts
