"""How far an output may lie from the reference: per dtype, scale-free, and no worse than that dtype's plain arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from backends.checks.narrow import Narrow
    from backends.checks.reference import Expected

# Largest ||o - r|| / ||r|| of one (row, head), about three times what rounding of operands, weights and output gives
# (simulated, N(0, 1) inputs, 256 to 16 384 keys). Absolute tolerances fail: outputs shrink with the context.
TAU = {"float32": 1e-4, "float16": 1e-3, "bfloat16": 8e-3}
TAU_TF32 = 2e-3  # a GPU's float32 product may be TF32
NAIVE_MAX, NAIVE_MEAN = 2.0, 1.5  # FlashAttention's own rule, hopper/test_flash_attn.py (0251105), and the same for the mean


class Incorrect(Exception):
    """The output is wrong; the text says how, and by how much."""


@dataclass(frozen=True)
class Errors:
    """||o - r|| / ||r|| over (row, head) outputs: the largest, and the root of the mean square."""

    largest: float
    rms: float

    def or_worse(self, other: Errors) -> Errors:
        return Errors(max(self.largest, other.largest), max(self.rms, other.rms))


def tau(dtype: str, device_type: str) -> float:
    """The tolerated relative error of outputs in ``dtype`` beside a cache in it; beside an 8-bit one or of projected heads see `Narrow`."""
    if dtype == "float32" and device_type == "cuda":
        return TAU_TF32
    return TAU[dtype]


def judge(expected: Expected, output: torch.Tensor, limit: float, narrow: Narrow | None = None) -> Errors:
    """How far ``output`` ([tokens, query_heads, value_head_dim], live rows only) lies from the float32 reference; where
    the float64 one of some rows finds a larger error, that is the largest.

    Raises `Incorrect` for elements that are not finite, for an error above ``limit`` against the float32 or the float64
    reference, and for one that plain arithmetic in the cell's dtype would not make. Where operands are rounded on the way ``narrow`` takes
    the place of the last two: the budget of each row, and of all of them together.
    """
    require_finite(output)
    errors = relative_errors(output[expected.rows], expected.output)
    exact = relative_errors(output[expected.exact_rows], expected.exact)
    found = Errors(max(float(errors.max()), float(exact.max())), math.sqrt(float(errors.square().mean())))
    if narrow is not None:
        _require_within(narrow, errors, expected.keys, found.rms)
    elif not found.largest <= limit:
        raise too_far(found.largest, limit)
    elif output.dtype.itemsize < 4:  # between float32 results only the order of summation differs
        _compare_with_naive(expected, output)
    return found


def _require_within(narrow: Narrow, errors: torch.Tensor, keys: torch.Tensor, rms: float) -> None:
    largest, mean = narrow.over(keys)
    worst = int((errors / largest).argmax())
    row, error = worst // errors.shape[1], float(errors.flatten()[worst])
    if not error <= float(largest[row]):
        found, explained = apart(error, float(largest[row]))
        raise Incorrect(f"relative error {found} of a query that sees {int(keys[row])} keys, {narrow.dtype} explains {explained}")
    if not rms <= mean:
        found, explained = apart(rms, mean)
        raise Incorrect(f"relative errors of {found} on average (RMS), {narrow.dtype} explains {explained}")


def too_far(largest: float, limit: float) -> Incorrect:
    found, right = apart(largest, limit)
    return Incorrect(f"relative error {found} against the reference, at most {right} is right for this dtype")


def apart(found: float, limit: float) -> tuple[str, str]:
    """Both as text, with so many digits that what lies above its limit reads so; a round limit is not padded with zeros."""
    pairs = ((f"{found:.{digits}e}", f"{limit:.{digits}e}") for digits in range(2, 17))
    text, right = next(pair for pair in pairs if pair[0] != pair[1])
    mantissa, exponent = right.split("e")
    return text, f"{mantissa.rstrip('0').rstrip('.')}e{exponent}"


def require_finite(output: torch.Tensor) -> None:
    broken = int((~output.isfinite()).sum())
    if broken:
        raise not_finite(broken, output.numel())


def not_finite(broken: int, elements: int) -> Incorrect:
    return Incorrect(f"{broken} of {elements} output elements are NaN or infinite: wrong, or never written")


def relative_errors(output: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """||o - r|| / ||r|| over the last dimension, in ``right``'s dtype."""
    import torch

    norm = torch.linalg.vector_norm
    errors: torch.Tensor = norm(output.to(right.dtype) - right, dim=-1) / norm(right, dim=-1)
    return errors


def _compare_with_naive(expected: Expected, output: torch.Tensor) -> None:
    """max|o - r| <= 2 max|naive - r| + a and mean <= 1.5 x, with ``a`` the rounding of r itself beside 0.3."""
    right = expected.exact
    got, naive = ((values.double() - right).abs() for values in (output[expected.exact_rows], expected.naive))
    rounded = right.to(output.dtype)
    slack = 2 * float((rounded + 0.3 - 0.3 - rounded).abs().max())
    if float(got.max()) > NAIVE_MAX * float(naive.max()) + slack:
        raise Incorrect(f"largest error {float(got.max()):.2e}, plain {output.dtype} arithmetic makes {float(naive.max()):.2e}")
    if float(got.mean()) > NAIVE_MEAN * float(naive.mean()):
        raise Incorrect(f"mean error {float(got.mean()):.2e}, plain {output.dtype} arithmetic makes {float(naive.mean()):.2e}")
