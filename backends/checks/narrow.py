"""How far an answer may lie from the reference where operands are rounded on the way to it, from how its numbers round.

Operands are N(0, 1) and a float with m mantissa bits rounds each by at most u = 2^-(m+1) of itself (half a unit in the last place; IEEE 754
rounding, the formats of "FP8 Formats for Deep Learning", arXiv:2209.05433: m = 3 in e4m3, 2 in e5m2). Significands spread as their
logarithms do, so the mean square of it is d^2 = u^2 / 3 x 3 / (8 ln 2). A scale moves no significand, so the budget knows none.

Beside an 8-bit cache a kernel may round all four operands of a head: its queries and keys as well as weights and values (a fresh prompt's
keys need not come from the pool). Latent heads are projected on the way, which rounds in the model's own dtype: keys and values that are
projected up, or queries that are projected down and the outputs they get; and where a prompt attends to parts of its context one after the
other, the parts' outputs. To first order, with a operands of each logit and b numbers of each output's size rounded, weights p over n
effective keys (n = keys x exp(-s^2), as sum(p)^2 / sum(p^2) of logits N(0, s^2)) and s = softmax scale x sqrt(head dim), parts of the
output's own size are

    values    sum p e v       d sqrt(b), from d_v independent errors
    weights   sum p e v       d, from n errors, at most u
    logits    sum p (D - mean D) v with D ~ N(0, a d^2 s^2):   d s sqrt(a (1 - 1/n)), from n errors

Sums of n squared errors have the chi-square quantile of n (Wilson and Hilferty 1931), at an error probability of `FALSE_ALARM` for all
outputs of a check together. Large logit errors grow exponentially, which expm1 bounds. The tests hold this against rounded arithmetic.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from backends.model import LayerKind

MANTISSA_BITS = {"float8_e4m3fn": 3, "float8_e5m2": 2, "bfloat16": 7, "float16": 10}
FALSE_ALARM = 1e-3
SPREAD = math.sqrt(3 / (8 * math.log(2)) / 3)  # d / u
FIRST_ORDER = 1.2  # what the mean over outputs may lie above, for what is left out
ALIKE = 4.5  # sigmas of a mean square of errors of which the few large ones count most, each about 1.5 times itself apart


def of_projected(dtype: str, layer: LayerKind, outputs: int) -> Narrow:
    """The budget of latent heads that are projected in ``dtype``: keys or queries are rounded, and of an output's size values or what
    comes before their projection, parts of the context, and the output itself."""
    return Narrow(dtype, layer, outputs, own=0.0, of_logits=1, of_outputs=3)


@dataclass(frozen=True)
class Narrow:
    """The budget of a check of ``outputs`` (row, head) outputs where operands are rounded to ``dtype``, ``of_logits`` of each logit and
    ``of_outputs`` of each output's size; ``own`` is what rounding of the output's own dtype may add."""

    dtype: str
    layer: LayerKind
    outputs: int
    own: float
    of_logits: int = 2
    of_outputs: int = 1

    @cached_property
    def largest_rounding(self) -> float:
        return float(2.0 ** -(MANTISSA_BITS[self.dtype] + 1))

    @property
    def _rounding(self) -> float:
        return self.largest_rounding * SPREAD

    def _sigmas(self, among: int = 1) -> float:
        """How far out the largest of all outputs' errors may lie, of ``among`` numbers of each."""
        return NormalDist().inv_cdf(1 - FALSE_ALARM / (self.outputs * among))

    @property
    def _logit_spread(self) -> float:
        return self.layer.softmax_scale * math.sqrt(self.layer.head_dim)

    def _moved(self, logits: float, heavy: float) -> float:
        """How far rounding moves logits that spread so far, over d; ``heavy``: where those lie that carry the weight."""
        return logits * math.sqrt(self.of_logits)

    def largest(self, keys: int) -> float:
        """Of one output whose query sees ``keys``: a long query, and one key that stands out, among all of them."""
        return self.beside(keys, self._logit_spread * (1 + self._sigmas() / math.sqrt(2 * self.layer.head_dim)))

    def beside(self, keys: int, logits: float) -> float:
        """Of one output whose query sees ``keys``, over which its logits spread that far."""
        sigmas = self._sigmas()
        few = _beside_a_heavy_one(keys, logits, self._sigmas(keys))
        tail = _squares(few, sigmas)
        moved = self._moved(logits, logits * self._sigmas(keys))
        shifted = math.expm1(self._rounding * moved * math.sqrt((1 - 1 / few) * tail))
        weighed = min(self.largest_rounding, self._rounding * math.sqrt(tail))
        valued = self._rounding * math.sqrt(self.of_outputs) * (1 + sigmas / math.sqrt(2 * self.layer.value_head_dim))
        return self.own + math.hypot(shifted, weighed, valued)

    def rms(self, keys: int) -> float:
        """Of all outputs whose queries see ``keys``."""
        spread = self._logit_spread
        few = _effective(keys, spread)
        moved = self._moved(spread, spread * min(2 * spread, math.sqrt(2 * math.log(keys))))
        shifted = math.expm1(self._rounding * moved * math.sqrt(1 - 1 / few))
        return self.own + FIRST_ORDER * math.hypot(shifted, self._rounding, self._rounding * math.sqrt(self.of_outputs))

    def needle(self) -> float:
        """Of an output that all but hangs on one key: its weight and its value are rounded, and no logit moves it."""
        return self.largest(1)

    def over(self, keys: torch.Tensor) -> tuple[torch.Tensor, float]:
        """Of outputs whose queries see ``keys`` int64 [n]: the largest of each, float32 [n, 1], and the root of all mean squares."""
        import torch

        seen = Counter(keys.tolist())
        bounds = {size: self.largest(size) for size in seen}
        largest = torch.tensor([bounds[size] for size in keys.tolist()], device=keys.device)
        squares = sum(self.rms(size) ** 2 * count for size, count in seen.items())
        return largest[:, None], math.sqrt(squares / len(keys) * (1 + ALIKE / math.sqrt(self.outputs)))


def _effective(keys: int, logit_spread: float) -> float:
    """Keys that share the weight; never fewer than two of several, whose weights may by chance be alike."""
    return max(min(keys, 2.0), keys * math.exp(-(logit_spread**2)))


def _beside_a_heavy_one(keys: int, logit_spread: float, sigmas: float) -> float:
    """Of the output in which one logit lies that far out."""
    others = _effective(keys, logit_spread)
    lead = logit_spread * sigmas - logit_spread**2 / 2 - math.log(keys)  # ln of its weight over that of all others
    heavy = 1 / (1 + math.exp(-lead))
    return max(min(keys, 2.0), 1 / (heavy**2 + (1 - heavy) ** 2 / others))


def _squares(count: float, sigmas: float) -> float:
    """The mean of ``count`` squares of N(0, 1) at that many sigmas."""
    return float((1 - 2 / (9 * count) + sigmas * math.sqrt(2 / (9 * count))) ** 3)
