"""The controller's lines on their way to the worker, past the guard between them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO

from backends.worker.line import write_whole

# What the controller tells the guard itself: the worker shall stand still while another process times its host.
PAUSE, RESUME = b'{"do": "pause"}', b'{"do": "resume"}'


class Questions:
    """``incoming`` is the controller's line, ``worker_end`` the pipe that the worker reads."""

    def __init__(self, incoming: BinaryIO, worker_end: int) -> None:
        self.descriptor = incoming.fileno()
        self._worker_end = worker_end
        self._partial = _read_already(incoming)

    def relay(self, read: bool) -> Iterator[bytes]:
        """Hand on the whole lines that came; those that are for the guard are yielded. ``read``: more can be read without waiting."""
        data = self._partial + (os.read(self.descriptor, 1 << 20) if read else b"")
        *lines, self._partial = data.split(b"\n")
        for line in lines:
            if line in (PAUSE, RESUME):
                yield line
            else:
                write_whole(self._worker_end, line + b"\n")


def _read_already(incoming: BinaryIO) -> bytes:
    """What the bootstrap's reader took in beyond the code that it was to read."""
    os.set_blocking(incoming.fileno(), False)
    try:
        return bytes(incoming.peek())  # type: ignore[attr-defined]  # it is a BufferedReader
    finally:
        os.set_blocking(incoming.fileno(), True)
