from __future__ import annotations

import pytest
import torch

from backends.cell import attention_flops, kv_bytes
from backends.timing.roofline import Implausible, Limits, Roofline
from tests.backends.small import decode, prefill

DECODE = decode(*[1000] * 8)
LIMITS = Limits(bandwidth_bytes_per_s=1e12, flops_per_s=1e14, margin=1.05)


def test_unique_bytes_may_come_5_percent_faster_than_memory_was_measured_and_no_more() -> None:
    at_the_limit_us = kv_bytes(DECODE, 2) / 1e12 * 1e6
    assert LIMITS.objection(DECODE, 2, at_the_limit_us / 1.04) is None
    assert "1060 GB/s of unique KV, this memory gives 1000 GB/s" in (LIMITS.objection(DECODE, 2, at_the_limit_us / 1.06) or "")


def test_live_rows_may_not_be_computed_faster_than_the_device_multiplies() -> None:
    cell = prefill((0, 4000))
    at_the_limit_us = attention_flops(cell) / 1e14 * 1e6
    assert LIMITS.objection(cell, 2, at_the_limit_us / 1.04) is None
    assert "106.00 TFLOP/s, this device reaches 100.00 TFLOP/s" in (LIMITS.objection(cell, 2, at_the_limit_us / 1.06) or "")


def test_beside_an_8_bit_cache_products_may_be_twice_as_fast() -> None:
    cell = prefill((0, 4000))
    at_the_limit_us = attention_flops(cell) / 2e14 * 1e6
    assert LIMITS.objection(cell, 1, at_the_limit_us / 1.04) is None
    assert "this device reaches 200.00 TFLOP/s" in (LIMITS.objection(cell, 1, at_the_limit_us / 1.06) or "")


def test_this_machines_limits_are_numbers_a_machine_can_have() -> None:
    limits = Roofline(torch.device("cpu"), "float32").limits
    assert 1e8 < limits.bandwidth_bytes_per_s < 1e13
    assert 1e8 < limits.flops_per_s < 1e15


def test_one_sample_too_fast_is_enough_and_a_cpu_is_measured_again_before_it_is_said(small_processor: None) -> None:
    roofline = Roofline(torch.device("cpu"), "float32")
    roofline.limits = Limits(1.0, 1.0, 2.0)  # as if the machine had stood still
    roofline.require_plausible(DECODE, 4, [5e5, 6e5])
    assert roofline.limits.bandwidth_bytes_per_s > 1e8
    with pytest.raises(Implausible, match=r"a sample of 0\.0 us means .* GB/s of unique KV"):
        roofline.require_plausible(DECODE, 4, [5e5, 1e-4])
