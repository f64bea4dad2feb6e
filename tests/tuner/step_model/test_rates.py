"""Rates of the machine: datasheet, or what attention reached."""

from __future__ import annotations

from dataclasses import replace

from backends.measured import Cost, Identity, Trial
from backends.outcome import Outcome
from tests.tuner.building import H200
from tuner.step_model.rates import rates

UNKNOWN = replace(H200, name="x86 CPU", kind="cpu", bandwidth_bytes_per_s=None, peak_flops=None)


def trial(bandwidth: float, flops: float) -> Trial:
    cost = Cost(10.0, None, 1.0, 1.0)
    return Trial(
        "a", "c", Outcome.MEASURED, identity=Identity("a", "eager", ()), cost=cost, bandwidth_bytes_per_s=bandwidth, flops_per_s=flops
    )


def test_a_datasheet_gives_both_ends() -> None:
    found = rates(H200, [])
    assert (found.bandwidth_low, found.bandwidth_high) == (0.6 * 4.8e12, 0.92 * 4.8e12)
    assert (found.flops_low, found.flops_high) == (0.6 * 989e12, 0.92 * 989e12)
    assert found.source == "rates of NVIDIA H200 from its datasheet"


def test_a_rate_that_was_reached_raises_the_high_end_of_the_sheet() -> None:
    assert rates(H200, [trial(4.7e12, 1e12)]).bandwidth_high == 4.7e12


def test_without_a_sheet_what_was_reached_is_a_low_end_alone() -> None:
    found = rates(UNKNOWN, [trial(1e10, 2e10), trial(3e10, 1e10)])
    assert (found.bandwidth_low, found.bandwidth_high) == (0.6 * 3e10, None)
    assert (found.flops_low, found.flops_high) == (0.6 * 2e10, None)
    assert "no datasheet rates of x86 CPU" in found.source


def test_nothing_known_stays_unknown() -> None:
    found = rates(UNKNOWN, [])
    assert {found.bandwidth_low, found.bandwidth_high, found.flops_low, found.flops_high} == {None}
    assert found.source == "no rates of x86 CPU known"
