"""Ctrl-C between two transactions, never inside one: a session of SQLAlchemy does not bear an exception at just any line."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def held_back() -> Iterator[None]:
    """An interrupt inside takes effect at the end; a second one at once, since somebody may wait for a lock in vain."""
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield  # ignored anyway, or not heard here
        return
    heard: list[FrameType | None] = []

    def hold(number: int, frame: FrameType | None) -> None:
        heard.append(frame)
        if len(heard) > 1:
            before(number, frame)

    signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if len(heard) == 1:
            before(signal.SIGINT, heard[0])
