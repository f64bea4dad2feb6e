"""Which arms race on, when a race ends, and what is measured thereafter."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.measured import Trial
from backends.outcome import Outcome
from store.decision import Pair, Ruling
from tests.tuner.building import DECIDE, DECODE, ENGINE, PREFILL, Recipe, arm, decode, prefill
from tests.tuner.racing.playing import field, play, seated, started, started_from
from tuner.decide import decide
from tuner.deciding.standing import standing_of
from tuner.racing.next_round import foreseen, next_round
from tuner.verdicts.stored import FEWEST

BOTH = {DECODE, PREFILL}
EAGER = replace(DECIDE, min_gain=0.001)  # hardly anything is too little to win
EQUAL = {"fa3": (500.0, 100.0), "flashinfer": (500.0, 100.0)}
FASTER = {"fa3": (500.0, 100.0), "flashinfer": (500.0, 80.0), "triton": (900.0, 150.0)}


def test_an_arm_far_behind_leaves_after_one_process_and_one_a_little_behind_stays() -> None:
    run = play(started({"fa3": (500.0, 100.0), "flashinfer": (515.0, 103.0), "triton": (560.0, 112.0)}), racing=True)
    assert set(field(run, 0)) == {"fa3", "flashinfer", "triton"}
    assert set(field(run, 1)) == {"fa3", "flashinfer"}


@pytest.mark.parametrize(("visit_sd", "leaves"), [(0.002, True), (0.1, False)])
def test_an_arm_far_behind_stays_where_the_times_of_one_process_scatter_as_much(visit_sd: float, leaves: bool) -> None:
    """As those that hold the host's do; the floor is of calls that do not."""
    run = play(started({"fa3": (500.0, 100.0), "triton": (560.0, 112.0)}, visit_sd=visit_sd))
    assert ("triton" not in field(run, 1)) is leaves


def test_an_arm_that_lost_one_phase_races_on_in_the_other() -> None:
    """SGLang issue 5630: fa3 wins prefill, flashinfer decode; neither may leave the phase it may win."""
    run = play(started({"fa3": (500.0, 100.0), "flashinfer": (600.0, 90.0), "triton": (500.5, 120.0)}))
    assert field(run, 1) == {"fa3": BOTH, "flashinfer": {DECODE}, "triton": {PREFILL}}


def test_the_default_stays_in_every_round_and_on_every_cell_though_it_is_beaten() -> None:
    run = play(started({"triton": (900.0, 150.0), "fa3": (500.0, 100.0)}, default=("triton", "triton")))
    assert all(field(run, index)["triton"] == BOTH for index in range(len(run.race)))


@pytest.mark.parametrize("known", [5, 7])
def test_nobody_leaves_between_two_looks(known: int) -> None:
    run = replace(started(FASTER), rounds=started(FASTER).rounds[:known])  # triton would have left long ago
    coming = next_round(run)
    assert coming is not None and {entrant.arm.backend for entrant in coming.field} == set(FASTER)


def test_a_race_of_equal_arms_ends_at_the_first_look_with_a_tie() -> None:
    run = play(started(EQUAL, process_sd=0.0005))
    assert len(run.rounds) == 4
    assert Pair("flashinfer/p1", "flashinfer/p1") in decide(run).tie_set


def test_a_race_that_noise_leaves_open_goes_on_to_the_last_look() -> None:
    run = play(started({"fa3": (500.0, 100.0), "flashinfer": (490.0, 97.0)}, process_sd=0.02, decide=EAGER))
    assert len(run.race) == 8
    assert decide(run).ruling is Ruling.KEEP


def test_a_race_ends_where_no_arm_left_in_it_could_win_enough_of_a_step() -> None:
    """Apart by more than a tie, but by far less than would be pinned."""
    run = play(started({"fa3": (500.0, 100.0), "flashinfer": (490.0, 98.0)}, process_sd=0.001, decide=replace(DECIDE, min_gain=0.03)))
    assert len(run.rounds) == 4 and decide(run).ruling is Ruling.KEEP


def test_a_quick_run_looks_once() -> None:
    assert len(play(started(EQUAL, asked=4, process_sd=0.02, decide=EAGER)).race) == 4


def test_a_rival_that_may_not_be_picked_clears_the_field_for_nobody() -> None:
    """Fastest on what counts, twice as slow on a guarded cell: the second best must still be there to be picked."""
    cells = (decode(), prefill(), decode("guard", batch=8, tokens=0.0, calls=0.0))
    times = {"fa3": (500.0, 100.0, 50.0), "flashinfer": (500.0, 60.0, 100.0), "triton": (500.0, 80.0, 50.0)}
    table = {(f"{name}/p1", cell.cell.name): us for name, row in times.items() for cell, us in zip((cells[1], cells[0], cells[2]), row)}
    run = play(started_from(Recipe(tuple(map(arm, times)), table, cells)))
    assert "triton" in field(run, 3)
    pick = decide(run).pick
    assert pick is not None and pick.decode == "triton/p1"


@pytest.mark.parametrize("asked", [4, 8])
@pytest.mark.parametrize(
    ("rival", "processes_with_it"),
    [((900.0, 150.0), 1), ((517.0, 103.4), 2), ((512.7, 102.54), 3)],
    ids=["at once", "after two", "after three"],
)
def test_a_default_that_is_left_alone_has_as_many_processes_as_stored_times_are_judged_by(
    rival: tuple[float, float], processes_with_it: int, asked: int
) -> None:
    run = play(started({"fa3": (500.0, 100.0), "triton": rival}, asked=asked, process_sd=0.0001, visit_sd=0.0001))
    assert [set(field(run, index)) for index in range(processes_with_it)] == [{"fa3", "triton"}] * processes_with_it
    assert [set(field(run, index)) for index in range(processes_with_it, FEWEST)] == [{"fa3"}] * (FEWEST - processes_with_it)
    assert len(run.rounds) == FEWEST and decide(run).ruling is Ruling.KEEP
    assert standing_of(run).choice.best_set == (Pair("fa3/p1", "fa3/p1"),)


def test_a_default_alone_is_foreseen_no_more_often_than_it_is_measured() -> None:
    whole = play(started({"fa3": (500.0, 100.0), "triton": (900.0, 150.0)}))
    foretold = []
    for index in range(1, len(whole.rounds)):
        coming = next_round(run := replace(whole, rounds=whole.rounds[:index]))
        assert coming is not None
        foretold.append(len(foreseen(run, coming)))
    assert foretold == [1, 0]


def test_a_rival_left_alone_with_a_default_it_beats_races_on_to_the_first_look() -> None:
    """How much it wins hangs on the default's times, of which more processes tell more."""
    run = play(started({"fa3": (500.0, 100.0), "flashinfer": (400.0, 80.0)}))
    assert len(run.race) == 4 and decide(run).ruling is Ruling.SWITCH


def test_a_choice_of_the_users_is_not_raced_for() -> None:
    """With every rival barred from the start there is one pair left, and the race is over at the first look."""
    run = play(started(FASTER, engine=replace(ENGINE, attention_backend="fa3")))
    assert len(run.rounds) == 4 and not run.confirmation


def test_a_pick_is_measured_again_in_two_fresh_processes_with_nobody_but_the_default() -> None:
    run = play(started(FASTER))
    assert [measured.confirms for measured in run.rounds] == [False] * 4 + [True] * 2
    assert field(run, 4) == field(run, 5) == {"fa3": BOTH, "flashinfer": {DECODE}}
    assert decide(run).ruling is Ruling.SWITCH


def test_a_default_that_stays_is_not_measured_again() -> None:
    assert not play(started({"fa3": (500.0, 100.0), "triton": (900.0, 150.0)})).confirmation


@pytest.mark.parametrize("times", [EQUAL, FASTER, {"fa3": (500.0, 100.0), "flashinfer": (490.0, 97.0), "triton": (505.0, 101.0)}])
def test_what_races_next_follows_from_what_is_stored_wherever_a_run_is_taken_up(times: dict[str, tuple[float, float]]) -> None:
    whole = started(times, process_sd=0.006, decide=EAGER)
    run = play(whole)
    for index, measured in enumerate(run.rounds):
        coming = next_round(replace(run, rounds=run.rounds[:index]))
        assert coming is not None and seated(whole.rounds[index], coming) == measured
    assert next_round(run) is None


def test_an_arm_that_failed_is_not_asked_for_again() -> None:
    whole = started(FASTER)
    failed = {("flashinfer/p1", DECODE): (Outcome.CRASHED, "signal 11")}
    run = play(replace(started(FASTER, failures=failed), rounds=whole.rounds), known=0)
    assert all("flashinfer" not in field(run, index) or field(run, index)["flashinfer"] == {PREFILL} for index in range(len(run.rounds)))


def test_a_pick_that_fails_while_it_is_measured_again_gives_way_to_another_that_is_measured_again_itself() -> None:
    whole = started({"fa3": (500.0, 100.0), "flashinfer": (500.0, 80.0), "triton": (500.0, 81.0)})
    run = play(whole)
    assert decide(run).pick == Pair("fa3/p1", "flashinfer/p1")
    failed = Trial("flashinfer/p1", DECODE, Outcome.CRASHED, "signal 11")
    begun = len(run.race) + 1
    again = replace(run, trials=(*run.trials, failed), rounds=run.rounds[:begun])
    for index in (begun, begun + 1):
        coming = next_round(again)
        assert coming is not None and coming.confirms and {entrant.arm.backend for entrant in coming.field} == {"fa3", "triton"}
        again = replace(again, rounds=(*again.rounds, seated(whole.rounds[index], coming)))
    assert next_round(again) is None and decide(again).pick == Pair("fa3/p1", "triton/p1")


def test_without_time_to_race_the_pick_is_still_measured_again() -> None:
    run = replace(started(FASTER), rounds=play(started(FASTER)).rounds[:4])
    coming = next_round(run, racing=False)
    assert coming is not None and coming.confirms and coming.index == 4
    assert next_round(replace(run, rounds=()), racing=False) is None


def test_with_everyone_nobody_leaves_and_nothing_is_measured_again() -> None:
    run = play(started(FASTER), everyone=True)
    assert len(run.rounds) == 8 and not run.confirmation
    assert all(set(field(run, index)) == set(FASTER) for index in range(8))


def test_until_the_next_look_those_that_race_are_foreseen_and_after_it_one_process_with_the_default() -> None:
    whole, both, default = started(EQUAL, process_sd=0.02, decide=EAGER), ["fa3/p1", "flashinfer/p1"], ["fa3/p1"]

    def after(known: int, everyone: bool = False) -> list[list[str]]:
        run = replace(whole, rounds=whole.rounds[:known])
        coming = next_round(run, everyone=everyone)
        assert coming is not None
        return [[each.name for each in arms] for arms in foreseen(run, coming, everyone)]

    assert [after(known) for known in (0, 3, 4, 7)] == [[both, both, both, default], [default], [both, default], []]
    assert after(5, everyone=True) == [both, both]


def test_a_round_on_some_cells_has_the_arms_that_are_on_them() -> None:
    coming = next_round(replace(started(EQUAL), rounds=()))
    assert coming is not None and {cell for each in coming.field for cell in each.cells} == BOTH
    some = coming.on({DECODE})
    assert some is not None and some.index == coming.index
    assert {each.arm.backend: each.cells for each in some.field} == {name: frozenset({DECODE}) for name in EQUAL}
    decode_alone = replace(coming, field=(replace(coming.field[0], cells=frozenset({DECODE})), coming.field[1]))
    only = decode_alone.on({PREFILL})
    assert only is not None and only.arms == (coming.field[1].arm,) and coming.on(()) is None
