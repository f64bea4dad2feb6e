"""Where a server is to serve, and waiting until it does."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from tuner.confirming.process import Program
from tuner.confirming.tail import Note, tail
from tuner.errors import Incomplete
from tuner.launching.written import value_of
from tuner.verifying.ask import FAULTS, opened, request_for

HOST = "127.0.0.1"
LOOK_S = 0.2
ANSWER_S = 10.0  # SGLang generates a token before it says that it is well


def free_port() -> int:
    with socket.socket() as found:
        found.bind((HOST, 0))
        return int(found.getsockname()[1])


def at(command: Sequence[str], port: int) -> tuple[str, ...]:
    """``command`` told where to serve; of an option that stands twice the engines take the last."""
    return (*command, "--host", HOST, "--port", str(port))


@dataclass(frozen=True)
class Place:
    """Where a server is to serve. ``key``: the one that it asks for, None = the environment's, if any."""

    port: int
    key: str | None

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"


def place_for(command: Sequence[str]) -> Place:
    return Place(free_port(), value_of(command, "api-key"))


def until_ready(program: Program, place: Place, within_s: float, who: str, log: Path, note: Note, meanwhile: Callable[[], None]) -> float:
    """The seconds it took. Raises `Incomplete` for a server that ends, or is not ready in time; the end of its log is noted. ``meanwhile``
    is called at each look, and may raise."""
    began = time.monotonic()
    while not healthy(place):
        meanwhile()
        code = program.wait(LOOK_S)
        if code is not None:
            note(tail(log))
            raise Incomplete(f"{who} did not start: it ended with exit code {code}; above is the end of its log, {log.name}")
        if time.monotonic() - began > within_s:
            note(tail(log))
            raise Incomplete(
                f"{who} was not ready after {within_s:.0f} s (wait longer with --within); above is the end of its log, {log.name}"
            )
    return time.monotonic() - began


def healthy(place: Place) -> bool:
    try:
        with opened(request_for(f"{place.url}/health", place.key), ANSWER_S) as answer:
            return bool(answer.status == HTTPStatus.OK)
    except FAULTS:
        return False
