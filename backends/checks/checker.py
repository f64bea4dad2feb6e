"""Is one arm right on one cell: outputs against the reference, needles, and the rows it must write to the pool."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from backends.checks.narrow import MANTISSA_BITS, Narrow, of_projected
from backends.checks.needles import LIMIT, judge_needles, planted
from backends.checks.poison import leave_poison
from backends.checks.reference import Expected, expect
from backends.checks.tolerance import Errors, Incorrect, judge, tau
from backends.kv.pool import row_bytes

if TYPE_CHECKING:
    import torch

    from backends.driver import CellData

POISON = 0xFF  # in every byte: NaN in each float dtype a pool may have


class Checker:
    """Judges arms that share one laid-out cell. ``shot`` everywhere: run the arm once, metadata included, and return
    the output of pool slot ``slot``; the queries are read anew each time.

    The reference is computed once, after the first shot has written the new keys and values.
    """

    def __init__(self, data: CellData, slot: int, soft_cap: float | None) -> None:
        self.slot = slot
        self._data = data
        self._soft_cap = soft_cap
        self._limit = tau(data.cell.dtype, data.q.device.type)
        self._expected: Expected | None = None

    def check(self, shot: Callable[[], torch.Tensor], written: Iterable[int]) -> Errors:
        """The errors of one shot, which writes to the slots ``written``. Raises `Incorrect`."""
        slots = tuple(written)
        for slot in slots:
            self._poison(slot)
        leave_poison(self._data)
        output = self._live(shot())
        for slot in slots:
            self._require_written(slot)
        if self._expected is None:
            self._expected = expect(self._data, self.slot, self._soft_cap)
        return judge(self._expected, output, self._limit, self._narrow(len(self._expected.rows)))

    def check_needles(self, shot: Callable[[], torch.Tensor]) -> float:
        """The largest relative error of needles, after `check` has passed. Raises `Incorrect`."""
        with planted(self._data, self.slot, self._soft_cap) as needles:
            return judge_needles(needles, self._live(shot()), max(LIMIT, self._limit), self._narrow(len(needles.rows)))

    def coverage(self) -> str | None:
        """Which requests the reference looked at, in words; None when it was all of them."""
        if self._expected is None or len(self._expected.requests) == self._data.cell.batch:
            return None
        return f"reference on {len(self._expected.requests)} of {self._data.cell.batch} requests: {list(self._expected.requests)}"

    def _narrow(self, rows: int) -> Narrow | None:
        """The budget of that many rows beside an 8-bit cache, or of heads that are projected in 16 bits."""
        stored, dtype, layer = self._data.pool.k[0].dtype, self._data.cell.dtype, self._data.cell.layer
        outputs = rows * layer.query_heads
        if stored.itemsize == 1:
            return Narrow(str(stored).removeprefix("torch."), layer, outputs, self._limit)
        return of_projected(dtype, layer, outputs) if layer.projected_from and dtype in MANTISSA_BITS else None

    def _live(self, output: torch.Tensor) -> torch.Tensor:
        """[new_tokens, query_heads, value_head_dim]: padded rows cut off, flattened heads restored."""
        layer = self._data.cell.layer
        return output.reshape(output.shape[0], layer.query_heads, layer.value_head_dim)[: self._data.cell.new_tokens]

    def _poison(self, slot: int) -> None:
        for layer in (self._data.pool.k[slot], self._data.pool.v[slot]):
            row_bytes(layer)[self._data.out_cache_loc] = POISON

    def _require_written(self, slot: int) -> None:
        """A reference that reads the pool cannot see a missing write, so the rows themselves are compared."""
        pool = self._data.pool
        scales = pool.scales or (1.0, 1.0)
        for name, layer, new, scale in zip(("keys", "values"), (pool.k[slot], pool.v[slot]), (self._data.k_new, self._data.v_new), scales):
            wanted = row_bytes((new / scale).to(layer.dtype))
            missing = int((row_bytes(layer)[self._data.out_cache_loc] != wanted).any(dim=-1).sum())
            if missing:
                raise not_written(missing, len(wanted), name, slot)


def not_written(missing: int, new: int, name: str, slot: int) -> Incorrect:
    return Incorrect(f"{missing} of {new} new {name} were not written to pool slot {slot} as given")
