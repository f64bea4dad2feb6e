"""Whether the head of a Ray cluster is there, and still the one it was: asked of its socket, without Ray."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from urllib.parse import urlsplit

REACH_S = 5.0
RENEW_S = 30.0  # gRPC hangs up, after two minutes, on those who say nothing

Head = tuple[str, int]


def head_at(address: str | None) -> Head | None:
    """None where the address does not say."""
    found = urlsplit(f"//{(address or '').rpartition('//')[2]}")
    return (found.hostname, found.port) if found.hostname and found.port else None


def comes(head: Head, patience_s: float, look_every_s: float) -> bool:
    """Whether somebody listens there in time."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection(head, REACH_S):
            return True
        time.sleep(look_every_s)
    return False


class Line:
    """A connection that ends with the head, also where another one takes its place at once."""

    def __init__(self, head: Head) -> None:
        self._head = head
        self._connection: socket.socket | None = None
        self._since = 0.0
        self._was_there = False

    def is_cut(self) -> bool:
        """Whether the head that was there has gone. One that cannot be reached may come back as it was."""
        if self._connection is not None and _has_ended(self._connection):
            return True
        if self._connection is None or time.monotonic() - self._since > RENEW_S:
            return not self._renewed() and self._was_there
        return False

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _renewed(self) -> bool:
        """False = nobody listens."""
        self.close()
        self._connection, self._since = None, time.monotonic()
        try:
            self._connection = socket.create_connection(self._head, REACH_S)
            self._connection.setblocking(False)
        except ConnectionRefusedError:
            return False
        except OSError:
            return True
        self._was_there = True
        return True


def _has_ended(connection: socket.socket) -> bool:
    try:
        return not connection.recv(4096)
    except BlockingIOError:
        return False
    except OSError:
        return True
