"""The right answers to one laid-out cell under one interpretation of its layer: the model's own, or what is declared of a backend."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from backends.checks.narrow import MANTISSA_BITS, Narrow, of_projected
from backends.checks.needles import LIMIT, judge_needles, planted
from backends.checks.reference import Expected, expect
from backends.checks.summed import of_summed
from backends.checks.tolerance import Errors, Incorrect, judge, tau

if TYPE_CHECKING:
    import torch

    from backends.deviation import Deviation
    from backends.driver import CellData

Found = TypeVar("Found")


class Interpretation:
    """``deviation`` None = the model's own. The reference is computed once, when it is first needed: the pool must hold the new keys and
    values by then."""

    def __init__(self, data: CellData, slot: int, soft_cap: float | None, deviation: Deviation | None = None) -> None:
        self.deviation = deviation
        self._data = data if deviation is None else replace(data, cell=deviation.applied(data.cell))
        self._slot = slot
        self._soft_cap = soft_cap
        self._limit = tau(data.cell.dtype, data.q.device.type)
        self._expected: Expected | None = None

    def errors(self, output: torch.Tensor) -> Errors:
        """Of ``output`` [new_tokens, query_heads, value_head_dim]. Raises `Incorrect`."""
        if self._expected is None:
            self._expected = expect(self._data, self._slot, self._soft_cap)
        return judge(self._expected, output, self._limit, self._narrow(len(self._expected.rows)))

    def needle_error(self, shot: Callable[[], torch.Tensor]) -> float:
        """Of the output that ``shot`` returns once needles are planted. Raises `Incorrect`."""
        with planted(self._data, self._slot, self._soft_cap) as needles:
            return judge_needles(needles, shot(), max(LIMIT, self._limit), self._narrow(len(needles.rows)))

    def coverage(self) -> str | None:
        """Which requests the reference looked at, in words; None when it was all of them."""
        if self._expected is None or len(self._expected.requests) == self._data.cell.batch:
            return None
        return f"reference on {len(self._expected.requests)} of {self._data.cell.batch} requests: {list(self._expected.requests)}"

    def _narrow(self, rows: int) -> Narrow | None:
        """The budget of that many rows beside an 8-bit cache, or of heads that are projected or whose products are summed in 16 bits."""
        stored, dtype, layer = self._data.pool.k[0].dtype, self._data.cell.dtype, self._data.cell.layer
        outputs = rows * layer.query_heads
        if stored.itemsize == 1:
            return Narrow(str(stored).removeprefix("torch."), layer, outputs, self._limit)
        if self.deviation is not None and self.deviation.narrow_sums:
            return of_summed(dtype, layer, outputs)
        return of_projected(dtype, layer, outputs) if layer.projected_from and dtype in MANTISSA_BITS else None


def fitting(interpretations: Iterable[Interpretation], judge: Callable[[Interpretation], Found]) -> dict[Interpretation, Found]:
    """What ``judge`` finds under each one that it has nothing against. Raises `Incorrect` with all that is against all of them."""
    found, against = dict[Interpretation, Found](), list[Incorrect]()
    for one in interpretations:
        try:
            found[one] = judge(one)
        except Incorrect as error:
            against.append(error if one.deviation is None else as_declared(one.deviation, error))
    if not found:
        raise against[0] if len(against) == 1 else Incorrect("; ".join(map(str, against)))
    return found


def as_declared(deviation: Deviation, error: Incorrect) -> Incorrect:
    return Incorrect(f"taken as a backend that {deviation.says}, which is declared of it: {error}")
