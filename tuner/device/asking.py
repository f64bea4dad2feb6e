"""A question about the board that is asked of a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tuner.device.session import Session
from tuner.workers.events import Event


def answers(session: Session, question: dict[str, Any], kind: str, phase: str) -> Iterator[Event]:
    """The events of ``kind`` that ``question`` is answered with, until the process ends; ``phase`` is shown while it measures."""
    with session.worker(()) as worker:
        for event in worker.ask(question):
            if event["event"] == "progress" and not session.awaits_others(event):
                session.clock.enter("timing")
                session.progress.phase(phase)
            if event["event"] == kind:
                yield event
