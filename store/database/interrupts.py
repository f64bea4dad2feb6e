"""Signals that end a command are heard between two transactions, never inside one: a session of SQLAlchemy does not bear an exception at
just any line."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

Handler = Callable[[int, FrameType | None], Any]
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # heard where somebody listens; what is ignored or left to the system stays so


@contextmanager
def held_back() -> Iterator[None]:
    """An interrupt inside takes effect at the end; a second one at once, since somebody may wait for a lock in vain."""
    if threading.current_thread() is not threading.main_thread():
        yield  # not heard here
        return
    before: dict[int, Handler] = {number: handler for number in ENDING if callable(handler := signal.getsignal(number))}
    heard: list[tuple[int, FrameType | None]] = []

    def hold(number: int, frame: FrameType | None) -> None:
        heard.append((number, frame))
        if len(heard) > 1:
            before[number](number, frame)

    for number in before:
        signal.signal(number, hold)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if len(heard) == 1:
            before[heard[0][0]](*heard[0])
