from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backends.timing.disturbance import OTHERS_BYTES, Disturbance, Gravity, Reading, cautions, disturbance

CALM = Reading(
    reasons=0,
    unreserved_bytes=3 << 30,
    temperature_c=55,
    power_w=390.4,
    sm_clock_mhz=1980,
    memory_clock_mhz=3201,
    power_limit_w=700.0,
    processes=(4242,),
    xids=(),
    uncorrected_errors=0,
    corrected_errors=2,
)


def found(*changes: dict[str, Any]) -> Disturbance | None:
    """In readings that differ from the first by ``changes``."""
    return disturbance(CALM, [replace(CALM, **change) for change in changes])


@pytest.mark.parametrize(
    ("reasons", "words"),
    [
        (0x08, "hardware slowdown"),
        (0x20, "thermal slowdown by the driver"),
        (0x48, "hardware slowdown, thermal slowdown by the hardware"),
        (0x80 | 0x04, "power brake"),
    ],
)
def test_heat_and_power_brakes_void_what_was_timed(reasons: int, words: str) -> None:
    assert found({}, {"reasons": reasons}, {}) == Disturbance(Gravity.VOID, f"{words} (55 C, 390 W, 1980 MHz SM clock)")


@pytest.mark.parametrize("reasons", [0, 0x01, 0x02, 0x04, 0x10, 0x100, None])
def test_what_is_usual_or_not_told_voids_nothing(reasons: int | None) -> None:
    assert found({"reasons": reasons}, {"reasons": reasons}) is None


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"processes": (4242, 4711)}, "somebody else started to use the GPU: process 4711"),
        ({"xids": (79,)}, "the driver reported Xid 79"),
        ({"uncorrected_errors": 1}, "uncorrected memory errors (ECC): 1"),
        ({"power_limit_w": 500.0}, "the power limit was changed from 700 W to 500 W"),
    ],
)
def test_errors_strangers_and_other_limits_invalidate_the_process(change: dict[str, Any], sentence: str) -> None:
    assert found({}, change) == Disturbance(Gravity.INVALID, sentence)
    assert found({"reasons": 0x40}, change) == Disturbance(Gravity.INVALID, sentence)  # graver than what a rest mends


def test_a_process_that_ended_and_a_corrected_error_disturb_nobody() -> None:
    assert found({"processes": ()}, {"corrected_errors": 9}) is None


def test_what_was_not_told_at_first_or_is_not_told_now_is_nobody_s_fault() -> None:
    told, untold = CALM, Reading()
    assert disturbance(untold, [replace(told, processes=(1,), uncorrected_errors=3)]) is None
    assert disturbance(told, [untold]) is None


def test_memory_that_this_process_did_not_reserve_is_somebody_else_s() -> None:
    allowed = (CALM.unreserved_bytes or 0) + OTHERS_BYTES
    assert found({"unreserved_bytes": allowed}) is None
    sentence = "somebody else started to use the GPU, 513 MiB more are taken than this process reserved"
    assert found({"unreserved_bytes": allowed + (1 << 20)}) == Disturbance(Gravity.INVALID, sentence)


@pytest.mark.parametrize(
    ("visiting", "voids"),
    [((True, True), True), ((True, False), False), ((False, False), False), ((True, False, True), False), ((False, True, True), True)],
)
def test_a_device_that_idles_twice_in_a_row_while_it_is_timed_was_starved(visiting: tuple[bool, ...], voids: bool) -> None:
    watched = [replace(CALM, reasons=0x01, visiting=each) for each in visiting]
    seen = disturbance(CALM, [CALM], watched)
    assert (seen is not None) is voids and (seen is None or "its queue ran empty" in seen.sentence)


def test_cautions_name_a_power_cap_and_what_nobody_could_read() -> None:
    capped, untold = replace(CALM, reasons=0x05), replace(CALM, reasons=None)
    assert cautions(CALM, [CALM]) == ()
    assert cautions(CALM, [CALM, capped]) == ("power capped",)
    assert cautions(CALM, [untold, untold]) == ("guard not verifiable",)
    assert cautions(CALM, [capped, untold]) == ("power capped", "guard not verifiable")
    assert cautions(replace(CALM, processes=None, xids=None), [CALM]) == ("not verifiable: processes, Xids",)


def test_cautions_name_clocks_that_somebody_set_and_errors_that_the_memory_mended() -> None:
    assert cautions(CALM, [replace(CALM, reasons=0x02)]) == ("clocks held by application clocks",)
    assert cautions(CALM, [replace(CALM, corrected_errors=5)]) == ("corrected memory errors (ECC): 3",)
