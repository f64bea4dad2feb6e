"""How far an answer may lie from the reference where the products of a query and a key are summed in their own dtype, from how sums round.

To what `narrow` counts this adds each sum on the way to a logit. A sum of j of the D products of a head is rounded by d of itself (d as
there), and of a logit L out of N(0, s^2) it is L j / D on average and s^2 j / D (1 - j / D) around that; over all sums on the way

    logits    d^2 (a s^2 + c (L^2 - s^2)),    a = sum of j / D, the products themselves among them; c = sum of (j / D)^2

A logit that carries weight is a large one: errors count by their squared weights, exp(2 L), whose mean is 2 s^2, or the largest of n
logits, s sqrt(2 ln n), where that is less; for the largest error of all the logit is as far out as narrow's heavy key.

The order of a sum is the compiler's. Triton (3.6 and 3.7) has 16 bytes of a row in a thread, or a 32nd of it where that is more, added in
turn, and then pairs of threads; a sum in pairs from the start rounds less. Values and weights are taken as narrow's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.checks.narrow import Narrow

if TYPE_CHECKING:
    from backends.model import LayerKind

IN_TURN = 8  # values of 16 bits in 16 bytes
THREADS = 32


def of_summed(dtype: str, layer: LayerKind, outputs: int) -> Summed:
    """The budget of heads whose products are summed in ``dtype``, of 16 bits."""
    return Summed(dtype, layer, outputs, own=0.0)


@dataclass(frozen=True)
class Summed(Narrow):
    """The budget of a check of ``outputs`` (row, head) outputs; the outputs are rounded to ``dtype`` too."""

    def _moved(self, logits: float, heavy: float) -> float:
        shares = tuple(_shares(1 << (self.layer.head_dim - 1).bit_length()))
        depth, together = (sum(share**power * count for share, count in shares) for power in (1, 2))
        return math.sqrt(depth * logits**2 + together * max(0.0, heavy**2 - logits**2))


def _shares(width: int) -> Iterator[tuple[float, float]]:
    """What part of all ``width`` products a rounded number is the sum of, and how many such numbers there are."""
    in_turn = min(width, max(IN_TURN, width // THREADS))
    yield from ((summed / width, width / (1 if summed == 1 else in_turn)) for summed in range(1, in_turn + 1))
    summed = 2 * in_turn
    while summed <= width:
        yield summed / width, width / summed
        summed *= 2
