"""How far an answer may lie from the reference beside an 8-bit KV cache, from how its numbers round.

Operands are N(0, 1) and a float with m mantissa bits rounds each by at most u = 2^-(m+1) of itself (half a unit in the last place; IEEE 754
rounding, the formats of "FP8 Formats for Deep Learning", arXiv:2209.05433: m = 3 in e4m3, 2 in e5m2). Significands spread as their
logarithms do, so the mean square of it is d^2 = u^2 / 3 x 3 / (8 ln 2). A scale moves no significand, so the budget knows none.
A kernel may round all four operands of a head: its queries and keys as well as weights and values (a fresh prompt's keys need not come
from the pool). To first order, with weights p over n effective keys (n = keys x exp(-s^2), as sum(p)^2 / sum(p^2) of logits N(0, s^2))
and s = softmax scale x sqrt(head dim), parts of the output's own size are

    values    sum p e v       d, from d_v independent errors
    weights   sum p e v       d, from n errors, at most u
    logits    sum p (D - mean D) v with D ~ N(0, 2 d^2 s^2) of keys and queries:   d s sqrt(2 (1 - 1/n)), from n errors

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

MANTISSA_BITS = {"float8_e4m3fn": 3, "float8_e5m2": 2}
FALSE_ALARM = 1e-3
SPREAD = math.sqrt(3 / (8 * math.log(2)) / 3)  # d / u
FIRST_ORDER = 1.2  # what the mean over outputs may lie above, for what is left out
ALIKE = 4.5  # sigmas of a mean square of errors of which the few large ones count most, each about 1.5 times itself apart


@dataclass(frozen=True)
class Narrow:
    """The budget of a check of ``outputs`` (row, head) outputs; ``own`` is what rounding of the output's own dtype may add."""

    kv_dtype: str
    layer: LayerKind
    outputs: int
    own: float

    @cached_property
    def largest_rounding(self) -> float:
        return float(2.0 ** -(MANTISSA_BITS[self.kv_dtype] + 1))

    @property
    def _rounding(self) -> float:
        return self.largest_rounding * SPREAD

    def _sigmas(self, among: int = 1) -> float:
        """How far out the largest of all outputs' errors may lie, of ``among`` numbers of each."""
        return NormalDist().inv_cdf(1 - FALSE_ALARM / (self.outputs * among))

    @property
    def _logit_spread(self) -> float:
        return self.layer.softmax_scale * math.sqrt(self.layer.head_dim)

    def largest(self, keys: int) -> float:
        """Of one output whose query sees ``keys``: a long query, and one key that stands out, among all of them."""
        sigmas = self._sigmas()
        logits = self._logit_spread * (1 + sigmas / math.sqrt(2 * self.layer.head_dim))
        few = _beside_a_heavy_one(keys, logits, self._sigmas(keys))
        tail = _squares(few, sigmas)
        shifted = math.expm1(self._rounding * logits * math.sqrt(2 * (1 - 1 / few) * tail))
        weighed = min(self.largest_rounding, self._rounding * math.sqrt(tail))
        valued = self._rounding * (1 + sigmas / math.sqrt(2 * self.layer.value_head_dim))
        return self.own + math.hypot(shifted, weighed, valued)

    def rms(self, keys: int) -> float:
        """Of all outputs whose queries see ``keys``."""
        few = _effective(keys, self._logit_spread)
        shifted = math.expm1(self._rounding * self._logit_spread * math.sqrt(2 * (1 - 1 / few)))
        return self.own + FIRST_ORDER * math.hypot(shifted, self._rounding, self._rounding)

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
