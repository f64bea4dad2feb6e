from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from backends.checks.reference import Expected, expect
from backends.checks.tolerance import Errors, Incorrect, apart, judge, tau
from tests.backends.faulty import PlainCall
from tests.backends.small import decode, laid_out


def right_output(dtype: str) -> tuple[Expected, torch.Tensor]:
    data = laid_out(decode(*range(100, 900, 50), dtype=dtype))
    output = PlainCall(data).launch(0)
    return expect(data, 0, None), output


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_a_right_output_errs_by_its_dtypes_rounding(dtype: str) -> None:
    expected, output = right_output(dtype)
    errors = judge(expected, output, tau(dtype, "cpu"))
    assert 0 <= errors.rms < errors.largest < tau(dtype, "cpu") / 3


def test_the_rms_error_is_over_all_rows_and_heads_and_the_largest_is_of_one() -> None:
    expected, _ = right_output("float32")
    output = expected.output.clone()
    output[5, 1] *= 1 + 1e-3
    errors = judge(replace(expected, exact_rows=expected.rows, exact=expected.output.double()), output, 1e-2)
    assert errors.largest == pytest.approx(1e-3, rel=1e-3)
    assert errors.rms == pytest.approx(1e-3 / math.sqrt(expected.output[..., 0].numel()), rel=1e-3)


def test_of_two_checks_the_worse_of_each_error_counts() -> None:
    assert Errors(3e-3, 1e-4).or_worse(Errors(2e-3, 2e-4)) == Errors(3e-3, 2e-4)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_one_element_that_is_not_finite_is_wrong(value: float) -> None:
    expected, output = right_output("float32")
    output[3, 2, 1] = value
    with pytest.raises(Incorrect, match="1 of 8192 output elements are NaN or infinite"):
        judge(expected, output, 1e-4)


def test_one_head_off_by_more_than_the_limit_is_wrong_however_small_its_values() -> None:
    expected, output = right_output("bfloat16")
    output[5, 1] *= 1.02
    with pytest.raises(Incorrect, match=r"relative error [12]\.\d+e-02 against the reference, at most 8e-03"):
        judge(expected, output, tau("bfloat16", "cpu"))


def test_an_error_that_plain_arithmetic_would_not_make_is_wrong_though_within_the_limit() -> None:
    expected, output = right_output("bfloat16")
    spoilt = (output.float() * 1.006).to(torch.bfloat16)
    with pytest.raises(Incorrect, match="plain torch.bfloat16 arithmetic makes"):
        judge(replace(expected, naive=expected.exact.to(torch.bfloat16)), spoilt, tau("bfloat16", "cpu"))


@pytest.mark.parametrize(
    ("found", "limit", "said"),
    [
        (8.96e-3, 8e-3, ("8.96e-03", "8e-03")),
        (1.884e-1, 1.841e-1, ("1.88e-01", "1.84e-01")),
        (1.884e-1, 1.8801e-1, ("1.884e-01", "1.88e-01")),
        (0.0300001, 0.03, ("3.00001e-02", "3e-02")),
        (math.nan, 0.03, ("nan", "3e-02")),
    ],
)
def test_what_lies_above_its_limit_reads_so(found: float, limit: float, said: tuple[str, str]) -> None:
    assert apart(found, limit) == said


def test_a_gpus_float32_may_be_tf32() -> None:
    assert (tau("float32", "cuda"), tau("float32", "cpu")) == (2e-3, 1e-4)
