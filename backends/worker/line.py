"""The worker's way to speak: one JSON object a line on a file descriptor that nothing else knows."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from typing import Any, BinaryIO

from backends.wire import to_plain

Message = dict[str, Any]  # a question of the controller's


class Line:
    """Sends events to the guard. A line is written whole under a lock, so threads may share it.

    NaN and infinity are refused with ValueError: missing is None. ``incoming`` brings the controller's lines.
    """

    def __init__(self, descriptor: int, incoming: BinaryIO | None = None) -> None:
        self._descriptor = descriptor
        self._incoming = incoming
        self._lock = threading.Lock()
        self.phase: str | None = None

    def send(self, event: str, **fields: Any) -> None:
        text = json.dumps(to_plain({"event": event, **fields}), allow_nan=False)
        with self._lock:
            write_whole(self._descriptor, text.encode() + b"\n")

    def wait(self) -> None:
        """Until the controller has said one more line, whatever it says, or has gone."""
        if self._incoming is not None:
            self._incoming.readline()

    def hear(self) -> Mapping[str, Any] | None:
        """What the controller says next; None when it has gone."""
        text = b"" if self._incoming is None else self._incoming.readline()
        return dict(json.loads(text)) if text.strip() else None

    def say(self, phase: str, arm: str | None = None, cell: str | None = None, detail: str | None = None) -> None:
        """Report progress; the guard's clock for "no progress" starts anew."""
        self.phase = phase
        self.send("progress", phase=phase, arm=arm, cell=cell, detail=detail)


def write_whole(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
