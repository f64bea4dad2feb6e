"""Judges a simulated answer, which says itself what is wrong with it, in the words of the real checks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from backends.checks.checker import not_written
from backends.checks.needles import LIMIT, missed
from backends.checks.tolerance import TAU, Errors, not_finite, too_far
from backends.simulated.world import Misfortune

if TYPE_CHECKING:
    from backends.cell import Cell
    from backends.deviation import Deviation
    from backends.simulated.driver import Answer

Shot = Callable[[], "Answer"]

CHECK_S = 0.1
ROUNDING = 0.3  # of what a dtype is allowed to err, which is what right kernels err


class SimulatedChecker:
    """See `backends.checks.checker.Checker`. As with noise in real pools, a lost key shows to needles alone."""

    def __init__(self, cell: Cell, slot: int, spend: Callable[[float], None], deviation: Deviation | None = None) -> None:
        self.deviates = False
        self._cell = cell
        self._slot = slot
        self._spend = spend
        self._deviation = deviation

    def check(self, shot: Shot, written: Iterable[int]) -> Errors:
        answer, tokens, layer = self._answer(shot), self._cell.new_tokens, self._cell.layer
        wrong = answer.wrong
        if wrong is Misfortune.UNWRITTEN:
            raise not_written(tokens, tokens, "keys", self._slot)
        if wrong is Misfortune.NANS:
            elements = tokens * layer.query_heads * layer.value_head_dim
            raise not_finite(elements, elements)
        self.deviates = answer.window != layer.sliding_window
        if wrong is Misfortune.STALE_GRAPH or (self.deviates and not self._as_declared(answer)):
            raise too_far(1.0, TAU[self._cell.dtype])
        largest = ROUNDING * TAU[self._cell.dtype]
        return Errors(largest, largest / 2)

    def check_needles(self, shot: Shot) -> float:
        if self._answer(shot).wrong is Misfortune.LOST_KEY:
            raise missed("newest", 1.0)
        return LIMIT / 10

    def coverage(self) -> None:
        """All of it."""

    def _as_declared(self, answer: Answer) -> bool:
        return self._deviation is not None and answer.window == self._deviation.applied(self._cell).layer.sliding_window

    def _answer(self, shot: Shot) -> Answer:
        self._spend(CHECK_S)
        answer = shot()
        while answer.wrong is Misfortune.HANG:  # for real: what ends it is the worker's guard
            time.sleep(0.01)
        return answer
