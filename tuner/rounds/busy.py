"""Neighbours kept at work, for a calibration to see what they do: each measures one round over and over, for nobody."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from tuner.device.patience import RETRIES
from tuner.errors import MeasurementInvalid
from tuner.rounds.board import OtherBoard
from tuner.rounds.here import Open, taken
from tuner.rounds.lent import Gone, Order
from tuner.workers.failure import WorkerFailed


class NotBusy(MeasurementInvalid):
    """A neighbour that should have been at work was not."""


@contextmanager
def kept_busy(boards: Iterable[Open], order: Order, note: Callable[[str], None]) -> Iterator[int]:
    """How many of ``boards`` are at ``order`` until this ends; of those that cannot be taken is noted why not. Raises `NotBusy`
    at the end where one of them was not busy until then."""
    over = threading.Event()
    with taken(boards, lambda why: note(f"beside one neighbour less: {why}")) as (opened, threads):
        work = [thread.submit(_work, board, order, over) for board, thread in zip(opened, threads)]
        try:
            yield len(opened)
        finally:
            over.set()
    for stopped in work:
        if why := stopped.result():
            raise NotBusy(f"a neighbour did not stay busy, so times beside it say nothing ({why}); run the same command again")


def _work(board: OtherBoard, order: Order, over: threading.Event) -> str | None:
    """Until it is ``over``; why it stopped before."""
    retries = RETRIES
    while True:
        answer = board.measured(order)
        if over.is_set():
            return None
        if isinstance(answer, Gone):
            return answer.why
        if isinstance(answer, WorkerFailed) and (retries := retries - 1) < 0:
            return answer.detail
