"""What a pin rests on, and which arms are worth measuring after an upgrade."""

from __future__ import annotations

import pytest

from backends.cell import Phase
from store.verdicts.verdict import Change
from tests.tuner.checking.upgraded import FA3, FLASHINFER, TIMES, UPGRADE, WAVE, here, measured, rests, then
from tuner.checking.resting import arms_to_measure, differing, touched_arms


def test_what_is_served_is_at_stake_and_what_it_was_chosen_against_is_a_rival() -> None:
    of_flashinfer, of_all = rests(then()), rests(then(), Change("driver", "1", "2", ("every arm",)))
    assert of_flashinfer.at_stake == {(Phase.DECODE, FLASHINFER)} and of_flashinfer.rivals == frozenset()
    assert of_all.at_stake == {(Phase.DECODE, FLASHINFER), (Phase.PREFILL, FA3)} and of_all.rivals == {(Phase.DECODE, FA3)}


def test_a_pin_that_sets_nothing_rests_on_every_arm_it_ranked() -> None:
    unset = rests(then({"fa3": (500.0, 50.0), "flashinfer": (520.0, 60.0)}))
    assert unset.at_stake == frozenset() and {arm for _, arm in unset.rivals} == {FLASHINFER}


@pytest.mark.parametrize(
    ("versions", "names", "arms"),
    [
        ({"flashinfer_python": "2"}, ("flashinfer-python",), {FLASHINFER}),
        ({"wave": "2", "sgl_kernel": "2"}, ("sgl-kernel", "wave"), {FA3, WAVE}),
        ({"torch": "2"}, ("torch",), {FA3, FLASHINFER, WAVE}),
        ({}, (), set()),
    ],
)
def test_an_arm_is_touched_by_what_it_imports_also_beside_the_pin(versions: dict[str, str], names: tuple[str, ...], arms: set[str]) -> None:
    assert differing(then(), here(**versions)) == names
    assert touched_arms(then(), here(**versions), ()) == arms


def test_the_pins_arms_are_measured_and_others_only_where_controls_are_few() -> None:
    arms = measured().arms
    names = [arm.name for arm in arms_to_measure(then(), arms, rests(then()))]
    assert names == [FA3, FLASHINFER, WAVE]  # FA3 is one control, and a second one is wanted
    upgraded_too = rests(then(), UPGRADE, flashinfer_python="2", wave="2")
    assert [arm.name for arm in arms_to_measure(then(), arms, upgraded_too)] == [FA3, FLASHINFER]


def test_an_arm_that_is_there_no_more_is_not_measured() -> None:
    today = measured({name: TIMES[name] for name in ("fa3", "wave")}).arms
    assert [arm.name for arm in arms_to_measure(then(), today, rests(then()))] == [FA3, WAVE]
