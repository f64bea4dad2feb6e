"""One round in a fresh process of a session, whichever board that is on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backends.arm import Arm
from backends.measured import Round
from backends.outcome import Outcome
from backends.spec import StageSpec
from backends.wire import from_plain
from tuner.device.session import Session
from tuner.workers.events import Event
from tuner.workers.failure import Place, WorkerFailed

Hear = Callable[[Event], None]


def measure(session: Session, message: Mapping[str, Any], stage: StageSpec, arms: Sequence[Arm], hear: Hear) -> Round:
    """The round that ``message``, the worker's question without its ``stage``, asks for. Raises `WorkerFailed`."""
    session.clock.enter("import")
    with session.worker(arms, others=True) as worker:
        for event in worker.ask({**message, "stage": session.staged(stage)}):
            hear(event)
            if event["event"] == "round":
                refuse_disturbed(session)
                return from_plain(Round, event["round"])
    raise RuntimeError("the worker ended a round without its result")


def refuse_disturbed(session: Session) -> None:
    """Raises `WorkerFailed` where imports beside the process that just ended got in its way."""
    session.clock.enter("import")
    if session.was_disturbed():
        raise WorkerFailed(Outcome.INTERRUPTED, "the imports of the next process opened a context on the device meanwhile", Place())
