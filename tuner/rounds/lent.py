"""What every lender of boards does: run a round that it is handed on one of them, alone there, and bring back what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from backends.arm import Arm
from backends.measured import Round
from backends.spec import StageSpec
from tuner.workers.failure import WorkerFailed


@dataclass(frozen=True)
class Order:
    """A round for another board: ``message`` is the worker's question without its ``stage``, ``confirms`` as of a `Round`; ``later`` the
    arms of each round that the same board is likely to be handed thereafter."""

    index: int
    message: Mapping[str, Any]
    stage: StageSpec
    arms: tuple[Arm, ...]
    confirms: bool = False
    later: tuple[tuple[Arm, ...], ...] = ()


@dataclass(frozen=True)
class Gone:
    """The board measures no more for this run, and ``why``; the round that it had is somebody else's."""

    why: str


Answer = Round | WorkerFailed | Gone


class Lent(Protocol):
    """``places``: how many boards there are beside the run's own."""

    @property
    def places(self) -> int: ...

    def begin(self, place: int, order: Order) -> Future[Answer]:
        """On board ``place``, counted from 0, which is idle. Never raises through the future."""


class Nobody:
    """Lends nothing: a run has its own board alone."""

    places = 0

    def begin(self, place: int, order: Order) -> Future[Answer]:
        raise RuntimeError("no board was lent")


Lend = Callable[[], AbstractContextManager[Lent]]


@contextmanager
def nobody() -> Iterator[Lent]:
    yield Nobody()
