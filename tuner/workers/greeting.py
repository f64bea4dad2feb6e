"""A worker's first words: some of an image's entry point, which may greet before Python starts, then its own hello."""

from __future__ import annotations

import queue
import time
from collections.abc import Sequence

from tuner.errors import UsageError
from tuner.workers.events import Garbage, parse, quote
from tuner.workers.streams import Streams

BANNER_LINES = 200


def await_hello(streams: Streams, command: Sequence[str], limit_s: float) -> None:
    """Raises `UsageError` where ``command`` does not lead to a Python that says hello in time."""
    deadline = time.monotonic() + limit_s
    banner: list[bytes] = []
    while len(banner) < BANNER_LINES:
        try:
            line = streams.line(patience_s=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            waited = f"it did not answer within {limit_s:g} s (patience.starting sets how long it is waited for)"
            raise unusable(command, f"{waited}{_first(banner)}") from None
        if line is None:
            raise unusable(command, f"it ended with exit code {streams.exit_code()}{_first(banner)}{last_words(streams.tail())}")
        event = greeting(line)
        if event == "hello":
            return
        if event is None:
            banner.append(line)
    raise unusable(command, f"it is no Python{_first(banner)}")


def unusable(command: Sequence[str], what: str) -> UsageError:
    words = " ".join(command) or "(empty)"
    return UsageError(f"engine.command={words}: {what}; give a command that ends in a Python 3.10 or newer, such as [python3]")


def greeting(line: bytes) -> str | None:
    """The kind of the event at the end of ``line``, None for a line of somebody else's, who may not have ended it before we spoke."""
    start = line.find(b'{"event"')
    try:
        return None if start < 0 else str(parse(line[start:])["event"])
    except Garbage:
        return None


def _first(banner: Sequence[bytes]) -> str:
    return f", after printing {quote(banner[0])}" if banner else ""


def last_words(talk: str) -> str:
    lines = [line for line in talk.splitlines() if line.strip()]
    return f", last words: {lines[-1].strip()[:200]}" if lines else ""
