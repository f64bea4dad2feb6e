"""Is one arm right on one cell: outputs against the reference, needles, and the rows it must write to the pool."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from backends.checks.interpretation import Interpretation, fitting
from backends.checks.poison import leave_poison
from backends.checks.tolerance import Errors, Incorrect
from backends.kv.pool import row_bytes

if TYPE_CHECKING:
    import torch

    from backends.deviation import Deviation
    from backends.driver import CellData

POISON = 0xFF  # in every byte: NaN in each float dtype a pool may have


class Checker:
    """Judges arms that share one laid-out cell. ``shot`` everywhere: run the arm once, metadata included, and return
    the output of pool slot ``slot``; the queries are read anew each time.

    With a ``deviation``, which is declared of the arms, answers may be the model's own or those that are declared: nothing in between, at
    the same tolerance. ``deviates``: whether they were last seen to be the declared ones.
    """

    def __init__(self, data: CellData, slot: int, soft_cap: float | None, deviation: Deviation | None = None) -> None:
        self.slot = slot
        self._data = data
        self._own = Interpretation(data, slot, soft_cap)
        self._interpretations = [self._own, *([Interpretation(data, slot, soft_cap, deviation)] if deviation else [])]
        self._fits = self._interpretations

    def check(self, shot: Callable[[], torch.Tensor], written: Iterable[int]) -> Errors:
        """The errors of one shot, which writes to the slots ``written``. Raises `Incorrect`."""
        slots = tuple(written)
        for slot in slots:
            self._poison(slot)
        leave_poison(self._data)
        output = self._live(shot())
        for slot in slots:
            self._require_written(slot)
        found = fitting(self._interpretations, lambda one: one.errors(output))
        self._fits = list(found)
        return next(iter(found.values()))

    def check_needles(self, shot: Callable[[], torch.Tensor]) -> float:
        """The largest relative error of needles, after `check` has passed. Raises `Incorrect`."""
        found = fitting(self._fits, lambda one: one.needle_error(lambda: self._live(shot())))
        self._fits = list(found)
        return next(iter(found.values()))

    @property
    def deviates(self) -> bool:
        return self._own not in self._fits

    def coverage(self) -> str | None:
        """Which requests the reference looked at, in words; None when it was all of them."""
        return self._own.coverage()

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
