"""Until the device is ours alone: its lock keeps other runs of attnpin away, NVML tells of everybody else."""

from __future__ import annotations

import time

from tuner.device.keeper import Facts
from tuner.device.machine import refuse_busy, used_by_others
from tuner.device.patience import Company, Wait, in_use
from tuner.device.session import Session

__all__ = ["Wait", "take_device"]

LOOK_EVERY_S = 5.0
LEAVING_LOOK_S, LEAVING_LOOKS = 0.5, 8  # a run of ours that ended is gone, and its load forgotten, within these


def take_device(session: Session, key: str, owner: str, wait: Wait) -> Facts:
    """Hold the lock ``key`` as ``owner`` and return what is known of the device once others have left it. From then on the session
    bears with others who come between two of its processes as ``wait`` says.

    Raises `MeasurementInvalid` when they have not in time.
    """
    facts = _after_ours(session) if session.keeper.lock(key, owner, wait.go_on) else session.keeper.facts(())
    name = facts.environment.board.name
    session.company = Company(name, wait.limit_s)
    session.clock.enter("waiting")
    while wait.limit_s is not None and (others := used_by_others(facts)):
        session.progress.phase(f"waiting until {name} is free", f"{others}; {wait.go_on(in_use(name, others))}")
        time.sleep(LOOK_EVERY_S)
        facts = session.keeper.facts(())
    refuse_busy(facts)
    session.clock.enter("import")
    return facts


def _after_ours(session: Session) -> Facts:
    """What is known once the run that was waited for has left: it used the device until it gave its lock back."""
    facts = session.keeper.facts(())
    for _ in range(LEAVING_LOOKS):
        if used_by_others(facts) is None:
            break
        time.sleep(LEAVING_LOOK_S)
        facts = session.keeper.facts(())
    return facts
