"""What a backend is known to compute otherwise than the model asks: on which layers, in which steps, and how far off."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from backends.cell import Cell, Phase

NARROW = ("bfloat16", "float16")
SHOWED = "deviates as declared"  # what the label of a trial begins with on which it did


class Step(str, Enum):
    """Steps of a server that its backends run through code of their own, by the words that declarations have for them."""

    DECODE = "decode"
    VERIFY = "verify"
    FRESH = "fresh prefill"
    PREFIX = "prefill on a prefix"


def showed(label: str) -> bool:
    """Whether a trial's ``label`` says that its answers deviated as declared."""
    return label.startswith(SHOWED)


def step_of(cell: Cell) -> Step:
    """A prefill with a prefix in any of its requests is launched as one with prefixes."""
    if cell.verifies:
        return Step.VERIFY
    if cell.phase is Phase.DECODE:
        return Step.DECODE
    return Step.PREFIX if any(cell.prefix_lens) else Step.FRESH


@dataclass(frozen=True)
class Deviation:
    """``keys`` is how many more than the window a query of ``layers`` (by name) sees in ``steps``: negative = fewer, None = all there
    are. ``says`` is a clause that the backend is the subject of; ``source``: file and function. With ``narrow_sums`` it is no window that
    is taken otherwise: the products of a query and a key are summed in the model's dtype, and logits err by what that rounds."""

    says: str
    layers: tuple[str, ...]
    steps: tuple[Step, ...]
    keys: int | None
    source: str
    narrow_sums: bool = False

    def concerns(self, cell: Cell) -> bool:
        able = cell.dtype in NARROW if self.narrow_sums else cell.layer.sliding_window is not None
        return able and cell.layer.name in self.layers and step_of(cell) in self.steps

    def applied(self, cell: Cell) -> Cell:
        """``cell``, which it concerns, as the backend takes it."""
        if self.narrow_sums:
            return cell
        window = cell.layer.sliding_window
        assert window is not None
        return replace(cell, layer=replace(cell.layer, sliding_window=None if self.keys is None else max(1, window + self.keys)))

    def shows_on(self, cell: Cell) -> bool:
        """Whether it concerns ``cell`` and some query there is old enough to see another number of keys, or more than one."""
        if not self.concerns(cell):
            return False
        if self.narrow_sums:
            return max(cell.context_lens) > 1  # the weight of a single key is 1 whatever its logit
        windows = (cell.layer.sliding_window, self.applied(cell).layer.sliding_window)
        return max(cell.context_lens) > min(window for window in windows if window is not None)

    def in_numbers(self, cell: Cell) -> str:
        """ "127 keys where the window has 128", "sums of 128 products in bfloat16"."""
        if self.narrow_sums:
            return f"sums of {cell.layer.head_dim} products in {cell.dtype}"
        seen = self.applied(cell).layer.sliding_window
        return f"{'all' if seen is None else seen} keys where the window has {cell.layer.sliding_window}"


def known_on(deviations: Iterable[Deviation], cell: Cell) -> Deviation | None:
    """The one that would show on ``cell``."""
    return next((one for one in deviations if one.shows_on(cell)), None)
