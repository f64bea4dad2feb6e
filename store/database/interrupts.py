"""Signals that end a command are heard between two transactions, never inside one, and before or after settings are composed: neither a
session of SQLAlchemy nor OmegaConf bears an exception at just any line."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
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
    heard: list[Callable[[], Any]] = []

    def hold(usual: Handler, number: int, frame: FrameType | None) -> None:
        heard.append(partial(usual, number, frame))
        if len(heard) > 1:
            usual(number, frame)

    try:
        with heard_by(hold):
            yield
    finally:
        if len(heard) == 1:
            heard[0]()


@contextmanager
def heard_by(handle: Callable[[Handler, int, FrameType | None], None]) -> Iterator[None]:
    """Inside, signals that end a command come to ``handle``, behind the handler that each has outside."""
    before: dict[int, Handler] = {number: handler for number in ENDING if callable(handler := signal.getsignal(number))}
    for number, usual in before.items():
        signal.signal(number, partial(handle, usual))
    try:
        yield
    finally:
        for number, usual in before.items():
            signal.signal(number, usual)
