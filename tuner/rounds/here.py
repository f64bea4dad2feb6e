"""Other GPUs of this machine: a thread for each, which measures the rounds that it is handed one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager

from tuner.errors import AttnpinError
from tuner.rounds.board import OtherBoard
from tuner.rounds.lent import Answer, Lent, Order

Open = AbstractContextManager[OtherBoard]


class Here:
    """``boards`` are open as long as this is used."""

    def __init__(self, boards: list[OtherBoard], threads: list[ThreadPoolExecutor]) -> None:
        self._boards = boards
        self._threads = threads

    @property
    def places(self) -> int:
        return len(self._boards)

    def begin(self, place: int, order: Order) -> Future[Answer]:
        return self._threads[place].submit(self._boards[place].measured, order)


@contextmanager
def lent_here(boards: Iterable[Open], note: Callable[[str], None]) -> Iterator[Lent]:
    """Those of ``boards`` that can be taken; of the others is noted why not. What still runs at the end is broken off."""
    with taken(boards, lambda why: note(f"measured without one more board: {why}")) as (opened, threads):
        yield Here(opened, threads)


@contextmanager
def taken(boards: Iterable[Open], not_taken: Callable[[AttnpinError], None]) -> Iterator[tuple[list[OtherBoard], list[ThreadPoolExecutor]]]:
    """Those of ``boards`` that can be, with a thread for each. What still runs at the end is broken off."""
    with ExitStack() as stack:
        opened = []
        for each in boards:
            try:
                opened.append(stack.enter_context(each))
            except AttnpinError as error:
                not_taken(error)
        threads = [stack.enter_context(ThreadPoolExecutor(1)) for _ in opened]
        try:
            yield opened, threads
        finally:
            for board in opened:
                board.kill()
