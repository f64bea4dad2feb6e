from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from backends.timing.disturbance import OTHERS_BYTES, Disturbed, Lookout, Reading, cautions, disturbance, lookout_over

CALM = Reading(reasons=0, unreserved_bytes=3 << 30, temperature_c=55, power_w=390.4, sm_clock_mhz=1980)


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
    assert disturbance(CALM, replace(CALM, reasons=reasons)) == f"measurement invalid: {words} (55 C, 390 W, 1980 MHz SM clock)"


@pytest.mark.parametrize("reasons", [0, 0x01, 0x02, 0x04, 0x10, 0x100, None])
def test_what_is_usual_or_not_told_voids_nothing(reasons: int | None) -> None:
    assert disturbance(CALM, replace(CALM, reasons=reasons)) is None


def test_memory_that_this_process_did_not_reserve_is_somebody_else_s() -> None:
    allowed = CALM.unreserved_bytes + OTHERS_BYTES
    assert disturbance(CALM, replace(CALM, unreserved_bytes=allowed)) is None
    found = disturbance(CALM, replace(CALM, unreserved_bytes=allowed + (1 << 20)))
    assert found == "measurement invalid: somebody else started to use the GPU, 513 MiB more are taken than this process reserved"


def test_cautions_name_a_power_cap_and_what_nobody_could_read() -> None:
    capped, untold = replace(CALM, reasons=0x05), replace(CALM, reasons=None)
    assert cautions([CALM]) == ()
    assert cautions([CALM, capped]) == ("power capped",)
    assert cautions([untold, untold]) == ("guard not verifiable",)
    assert cautions([capped, untold]) == ("power capped", "guard not verifiable")


def test_a_lookout_compares_every_look_with_its_first_reading() -> None:
    grown = [replace(CALM, unreserved_bytes=CALM.unreserved_bytes + step * OTHERS_BYTES * 2 // 3) for step in range(3)]
    lookout = Lookout(iter(grown).__next__)
    lookout.look()
    with pytest.raises(Disturbed, match="somebody else"):
        lookout.look()


def test_labels_are_of_the_looks_not_of_the_reading_before_the_arms() -> None:
    lookout = Lookout(iter([replace(CALM, reasons=0x04), CALM]).__next__)
    lookout.look()
    assert lookout.labels() == ()


def test_over_a_processor_there_is_nothing_to_see() -> None:
    lookout = lookout_over(torch.device("cpu"))
    lookout.look()
    assert lookout.labels() == ()


@pytest.mark.gpu
def test_a_gpu_of_our_own_is_calm_and_what_torch_reserves_is_not_taken_for_somebody_else_s() -> None:
    device = torch.device("cuda", 0)
    torch.ones(1, device=device)
    lookout = lookout_over(device)
    held = torch.empty(4 * OTHERS_BYTES, dtype=torch.uint8, device=device)
    lookout.look()
    assert "guard not verifiable" not in lookout.labels()
    del held
