from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

import pytest
import torch

from backends.timing.cuda_events import back_to_back_us
from backends.timing.disturbance import OTHERS_BYTES, Disturbed, Reading
from backends.timing.lookout import Lookout, lookout_over
from backends.timing.sentry import BoardReader, Sentry

CALM = Reading(reasons=0, unreserved_bytes=3 << 30, temperature_c=55, power_w=390.0, sm_clock_mhz=1980, power_limit_w=700.0)


class Overheard:
    """Stands in for a sentry: ``seen`` is what he tells at the next look."""

    def __init__(self) -> None:
        self.seen: Sequence[Reading] = ()
        self.stopped = False

    def heard(self) -> Sequence[Reading]:
        seen, self.seen = self.seen, ()
        return seen

    def stop(self) -> None:
        self.stopped = True


def test_a_lookout_compares_every_look_with_its_first_reading() -> None:
    grown = [replace(CALM, unreserved_bytes=(3 << 30) + step * OTHERS_BYTES * 2 // 3) for step in range(3)]
    lookout = Lookout(iter(grown).__next__)
    assert lookout.look() is None
    with pytest.raises(Disturbed, match="measurement invalid: somebody else"):
        lookout.look()


def test_what_a_rest_mends_is_said_once_and_raised_never() -> None:
    lookout = Lookout(iter([CALM, replace(CALM, reasons=0x40), CALM]).__next__)
    assert lookout.look() == "thermal slowdown by the hardware (55 C, 390 W, 1980 MHz SM clock)"
    assert lookout.look() is None


def test_what_the_sentry_read_between_two_looks_counts() -> None:
    sentry = Overheard()
    lookout = Lookout(lambda: CALM, sentry)
    sentry.seen = [CALM, replace(CALM, reasons=0x80), CALM]
    assert "power brake" in (lookout.look() or "")
    assert lookout.look() is None
    sentry.seen = [replace(CALM, power_limit_w=500.0)]
    with pytest.raises(Disturbed, match="from 700 W to 500 W"):
        lookout.look()
    lookout.close()
    assert sentry.stopped


def test_a_device_that_idled_in_the_visits_before_and_after_a_look_was_starved_and_one_that_worked_between_was_not() -> None:
    sentry, idle = Overheard(), replace(CALM, reasons=0x01, visiting=True)
    lookout = Lookout(lambda: CALM, sentry)

    def told(*readings: Reading) -> str | None:
        sentry.seen = readings
        return lookout.look()

    assert told(idle) is None and told() is None
    assert told(idle) == "the GPU idled during a visit, its queue ran empty"
    for between in (replace(CALM, visiting=True), replace(idle, visiting=False)):
        assert told(between) is None and told(idle) is None


def test_labels_are_of_the_looks_not_of_the_reading_before_the_arms() -> None:
    lookout = Lookout(iter([replace(CALM, reasons=0x04, processes=(), xids=(), uncorrected_errors=0), CALM]).__next__)
    lookout.look()
    assert lookout.labels() == ()


def test_conditions_are_those_of_the_visits_where_the_sentry_read_any() -> None:
    sentry = Overheard()
    lookout = Lookout(lambda: CALM, sentry)
    sentry.seen = [replace(CALM, sm_clock_mhz=clock, reasons=0x04, visiting=clock < 1900) for clock in (1700, 1755, 1980)]
    lookout.look()
    found = lookout.conditions()
    assert found is not None
    assert (found.readings, found.sm_clock_mhz, found.power_w, found.memory_clock_mhz) == (2, (1700.0, 1755.0), (390.0, 390.0), None)
    assert found.reasons == 0x04
    assert lookout.conditions() is None  # nothing since


def test_over_a_processor_there_is_nothing_to_see() -> None:
    lookout = lookout_over(torch.device("cpu"))
    assert lookout.look() is None
    assert lookout.labels() == () and lookout.conditions() is None


def test_without_a_management_library_every_reading_is_empty() -> None:
    assert BoardReader(None).glance() == BoardReader(None).reading() == Reading()


def test_a_sentry_reads_again_and_again_and_tells_whether_a_visit_was_under_way() -> None:
    enough = threading.Event()
    clocks = iter(range(1_000_000))

    def read() -> Reading:
        clock = next(clocks)
        if clock == 5:
            enough.set()
        return Reading(sm_clock_mhz=clock)

    sentry = Sentry(read, period_s=0.001)
    sentry.start(lambda: True)
    assert enough.wait(10)
    sentry.stop()
    heard = sentry.heard()
    assert [reading.sm_clock_mhz for reading in heard[:5]] == [0, 1, 2, 3, 4] and all(reading.visiting for reading in heard)


@pytest.mark.gpu
def test_a_gpu_of_our_own_is_calm_and_what_torch_reserves_is_not_taken_for_somebody_else_s() -> None:
    device = torch.device("cuda", 0)
    torch.ones(1, device=device)
    lookout = lookout_over(device)
    held = torch.empty(4 * OTHERS_BYTES, dtype=torch.uint8, device=device)
    lookout.look()
    assert "guard not verifiable" not in lookout.labels()
    lookout.close()
    del held


@pytest.mark.gpu
def test_a_sentry_at_five_readings_a_second_moves_no_visit() -> None:
    """Medians of visits of over half a second with and without him, in turn, agree within 0.5 %."""
    device = torch.device("cuda", 0)
    x = torch.randn(64 << 20, device=device)
    y = torch.empty_like(x)

    def visit() -> float:
        return median(back_to_back_us(lambda: y.copy_(x), discards=100, samples=5000))

    alone, beside = [], []
    for _ in range(5):
        alone.append(visit())
        lookout = lookout_over(device)
        beside.append(visit())
        lookout.look()
        told = lookout.conditions()
        lookout.close()
        assert told is not None and told.readings >= 2  # the look's own and at least one of his
    assert abs(median(beside) / median(alone) - 1) < 0.005
