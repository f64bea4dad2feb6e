"""Lines of a worker into events; their records stay plain until the one who asked reads them with `backends.wire`."""

from __future__ import annotations

import json
from typing import Any

Event = dict[str, Any]


class Garbage(ValueError):
    """A line that is no event; the text quotes it."""


def parse(line: bytes) -> Event:
    """Raises `Garbage`."""
    try:
        event = json.loads(line)
    except ValueError as error:
        raise Garbage(f"the worker's line is garbled: {quote(line)}") from error
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise Garbage(f"the worker's line holds no event: {quote(line)}")
    return event


def quote(line: bytes) -> str:
    """The first 80 characters, printable."""
    return repr(line[:320].decode(errors="replace").strip()[:80])
