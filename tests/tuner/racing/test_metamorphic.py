"""What must not change a race: slower clocks, other names, another order of cells or arms, a cell cut in two."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from store.runs.run import Run
from tests.tuner.building import rescaled
from tests.tuner.racing.playing import field, play, started
from tuner.decide import decide

NAMES = ("fa3", "flashinfer", "triton")
TWIN = "-twin"
FEW = settings(max_examples=8, deadline=None)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Three arms within a tenth of each other, in processes that scatter little or much."""
    times = {name: (500.0 * draw(st.floats(0.95, 1.05)), 100.0 * draw(st.floats(0.95, 1.05))) for name in NAMES}
    return started(times, process_sd=draw(st.sampled_from((0.001, 0.004, 0.01))), seed=draw(st.integers(0, 999)))


def course(run: Run) -> list[tuple[bool, dict[str, set[str]]]]:
    """Who raced where, round by round."""
    return [(measured.confirms, field(run, index)) for index, measured in enumerate(run.rounds)]


@FEW
@given(run=runs(), factor=st.floats(0.1, 10))
def test_slower_clocks_for_all_leave_the_race_alone(run: Run, factor: float) -> None:
    """Of the rounds alone: what a step takes beside attention stays, so that the ceiling must not be in play."""
    free = replace(run, scenario=replace(run.scenario, decide=replace(run.scenario.decide, min_gain=1e-9)))
    assert course(play(rescaled(free, factor))) == course(play(free))


@FEW
@given(run=runs(), seed=st.integers(0, 99))
def test_the_order_of_arms_and_cells_does_not_matter(run: Run, seed: int) -> None:
    rng = random.Random(seed)
    arms, cells = (tuple(rng.sample(each, len(each))) for each in (run.arms, run.cells))
    assert course(play(replace(run, arms=arms, cells=cells))) == course(play(run))


@FEW
@given(run=runs())
def test_a_cell_cut_in_two_equal_ones_leaves_the_race_alone(run: Run) -> None:
    assert [(confirms, without_twins(seen)) for confirms, seen in split(run)] == course(play(run))


def split(run: Run) -> list[tuple[bool, dict[str, set[str]]]]:
    """The course of a run whose every cell is there twice, with half of its weight."""
    halves = [replace(one, calls_per_1000_tokens=one.calls_per_1000_tokens / 2, token_share=one.token_share / 2) for one in run.cells]
    cells = tuple(replace(half, cell=replace(half.cell, name=name)) for half in halves for name in both(half.cell.name))
    rounds = tuple(
        replace(one, cells=tuple(replace(cell, cell=name) for cell in one.cells for name in both(cell.cell))) for one in run.rounds
    )
    trials = tuple(replace(trial, cell=name) for trial in run.trials for name in both(trial.cell))
    return course(play(replace(run, cells=cells, rounds=rounds, trials=trials)))


def both(name: str) -> tuple[str, str]:
    return name, name + TWIN


def without_twins(seen: dict[str, set[str]]) -> dict[str, set[str]]:
    return {arm: {cell for cell in cells if not cell.endswith(TWIN)} for arm, cells in seen.items()}


@FEW
@given(run=runs())
def test_a_finished_race_is_decided_the_same_each_time_and_asks_for_nothing_more(run: Run) -> None:
    done = play(run)
    assert decide(done) == decide(done)
    assert play(done, known=len(done.rounds)) == done
