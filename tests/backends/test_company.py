"""A process that is about to take its first memory on a device where others are waits, and says what they have."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.company import LEAVING_LOOK_S, LEAVING_LOOKS, LOOK_EVERY_S, taken
from backends.measured import Round
from backends.simulated.world import World
from tests.backends.simulated.worlds import CALM, DECODE, FA3, fault, raced, struck

STRANGER = "40.0 GiB are taken"
LEAVING_S = LEAVING_LOOKS * LEAVING_LOOK_S


def heard(world: World) -> tuple[Round, list[str | None]]:
    """What a round came to, and the details it said while it waited."""
    said: list[str | None] = []

    def say(phase: str, arm: str | None = None, cell: str | None = None, detail: str | None = None) -> None:
        if phase == "waiting":
            said.append(detail)

    return raced(world, [FA3], [DECODE], say=say), said


def test_what_is_there_for_a_moment_may_be_the_process_before_and_is_not_spoken_of() -> None:
    _, said = heard(struck(fault("foreign_process", for_s=LEAVING_S)))
    assert said == [None] * LEAVING_LOOKS


def test_whoever_stays_longer_is_waited_for_and_then_all_is_measured_as_ever() -> None:
    measured, said = heard(struck(fault("foreign_process", for_s=LEAVING_S + 3 * LOOK_EVERY_S)))
    assert said == [None] * LEAVING_LOOKS + [STRANGER] * 3
    calm, nothing = heard(CALM)
    assert dict(measured.seconds)["waiting"] == pytest.approx(LEAVING_S + 3 * LOOK_EVERY_S)
    assert [cell.visits for cell in measured.cells] == [cell.visits for cell in calm.cells]
    assert (measured.labels, nothing) == ((), [])


def test_where_nobody_can_tell_nobody_is_waited_for() -> None:
    measured, said = heard(replace(struck(fault("foreign_process", for_s=2.0)), telling=False))
    assert said == [] and "guard not verifiable" in measured.labels


def test_what_others_have_is_said_with_their_load_where_that_is_known() -> None:
    assert taken(40 << 30) == STRANGER
    assert taken(40 << 30, 97) == f"{STRANGER}, at 97 % load"
