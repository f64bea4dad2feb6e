from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from backends.cell import Phase
from reports.robustness import section
from store.decision import Robustness
from store.recorded_traffic import RecordedStep, RecordedTraffic
from store.runs.run import Run
from tests.tuner.building import PREFILL, Recipe, arm, build, decode, one_cell_each, prefill
from tuner.decide import decide
from tuner.traffic.loads import named_steps

SMALL, LARGE = "decode-8-1000", "decode-64-1000"
CELLS = (decode(SMALL, 8, 1000, 0.5), decode(LARGE, 64, 1000, 0.5), prefill())


def run_with(fa3: tuple[float, float], triton: tuple[float, float]) -> Run:
    """Microseconds on the small and on the large decode cell."""
    times = {**dict(zip(product(["fa3/p1"], (SMALL, LARGE)), fa3)), **dict(zip(product(["triton/p1"], (SMALL, LARGE)), triton))}
    times |= {("fa3/p1", PREFILL): 500.0, ("triton/p1", PREFILL): 500.0}
    return build(Recipe((arm("fa3"), arm("triton")), times, CELLS, process_sd=0.0, visit_sd=0.0))


def found(run: Run) -> Robustness:
    """Of decode, where all rivals differ."""
    return next(each for each in decide(run).robustness if each.new.decode != each.old.decode)


def step(batch: int, block_steps: tuple[float, ...], phase: Phase = Phase.DECODE) -> RecordedStep:
    lens = ((1000,) * batch, (1,) * batch, (999,) * batch) if phase is Phase.DECODE else ((4096,), (4096,), (4096,))
    return RecordedStep(phase, *lens, 0.5, 0.5, 10.0, block_steps)


def recorded(run: Run, small: tuple[float, ...], large: tuple[float, ...]) -> Run:
    steps = (step(8, small), step(64, large), step(1, (1.0,) * len(small), Phase.PREFILL))
    traffic = RecordedTraffic("0", "columns", 10, 0, (), 3600.0, (1.0,) * len(small), steps, ())
    cells = tuple(replace(one, cell=replace(one.cell, name=name)) for one, name in zip(run.cells, named_steps(traffic)))
    names = dict(zip((one.cell.name for one in run.cells), (one.cell.name for one in cells)))
    rounds = tuple(replace(each, cells=tuple(replace(cell, cell=names[cell.cell]) for cell in each.cells)) for each in run.rounds)
    trials = tuple(replace(trial, cell=names[trial.cell]) for trial in run.trials)
    scenario = replace(run.scenario, traffic=replace(run.scenario.traffic, recorded=traffic))
    return replace(run, cells=cells, rounds=rounds, trials=trials, scenario=scenario)


def test_the_ratio_over_any_weights_lies_between_its_ends_on_single_cells() -> None:
    robustness = found(run_with((20.0, 100.0), (22.0, 130.0)))
    assert (robustness.low_cell, robustness.high_cell) == (SMALL, LARGE)
    assert robustness.low == pytest.approx(1.1) and robustness.high == pytest.approx(1.3) and 1.1 < robustness.ratio < 1.3


def test_where_one_is_ahead_everywhere_no_weights_turn_the_order() -> None:
    robustness = found(one_cell_each({"fa3": (500.0, 100.0), "triton": (600.0, 110.0)}, process_sd=0.0, visit_sd=0.0))
    assert robustness.turning == () and robustness.flip_share is None and robustness.ratio == pytest.approx(1.1)


def test_at_the_flip_share_both_take_the_same() -> None:
    run = run_with((20.0, 100.0), (18.0, 130.0))
    robustness = found(run)
    assert robustness.turning == (SMALL,) and robustness.flip_share is not None and robustness.share < robustness.flip_share < 1
    # as many more steps on the small cell as bring its share there
    counts = {one.cell.name: one.calls_per_1000_tokens for one in run.cells}
    more = robustness.flip_share / (1 - robustness.flip_share) * counts[LARGE] * 100.0 / 20.0
    gain, loss = more * (20.0 - 18.0), counts[LARGE] * (130.0 - 100.0)
    assert gain == pytest.approx(loss, rel=1e-3)


def test_hours_that_are_all_alike_change_nothing_when_they_are_drawn_again() -> None:
    robustness = found(recorded(run_with((20.0, 100.0), (15.0, 130.0)), (5.0,) * 12, (5.0,) * 12))
    assert robustness.resampled is not None and robustness.resampled.blocks == 12
    assert robustness.resampled.low == pytest.approx(robustness.resampled.high) and robustness.resampled.turned in (0, 1)


def test_hours_that_differ_spread_the_ratio_and_may_turn_the_order_the_same_in_every_process() -> None:
    # hours of small batches alone, in which triton is ahead, and of large ones alone, in which fa3 is
    run = recorded(run_with((20.0, 100.0), (15.0, 130.0)), (60.0,) * 6 + (0.0,) * 6, (0.0,) * 6 + (9.0,) * 6)
    robustness = found(run)
    assert robustness.resampled is not None and robustness.resampled.low < 1 < robustness.resampled.high
    assert 0.1 < robustness.resampled.turned < 0.9 and found(run) == robustness


def test_a_single_block_of_a_log_is_not_drawn_again() -> None:
    assert found(recorded(run_with((20.0, 100.0), (22.0, 130.0)), (5.0,), (5.0,))).resampled is None


def test_with_three_cells_of_a_phase_the_others_foretell_each() -> None:
    cells = (*(decode(f"decode-{batch}", batch, 1000, 0.25) for batch in (8, 16, 32, 64)), prefill())
    times = {(made, one.cell.name): 10.0 * one.cell.batch for made in ("fa3/p1", "triton/p1") for one in cells}
    run = build(Recipe((arm("fa3"), arm("triton")), times, cells, process_sd=0.0, visit_sd=0.0))
    assert {(each.arm, each.phase, each.cells) for each in found(run).between} == {
        (made, Phase.DECODE, 4) for made in ("fa3/p1", "triton/p1")
    }
    assert all(each.worst < 1e-6 and not each.beyond for each in found(run).between)


def test_a_run_in_which_nothing_was_compared_says_nothing() -> None:
    run = one_cell_each({"fa3": (500.0, 100.0)})
    assert decide(run).robustness == () and section(run, decide(run)) is None


def test_the_sentences_hold_the_numbers_and_who_would_be_ahead() -> None:
    run = recorded(run_with((20.0, 100.0), (18.0, 130.0)), (60.0,) * 6 + (0.0,) * 6, (0.0,) * 6 + (9.0,) * 6)
    said = section(run, decide(run))
    assert said is not None and said.title == "Under other traffic"
    text = "\n".join(map(str, said.body))
    assert "(all of it on decode-8-1000) to 1.300 (all on decode-64-1000) whatever the weights of the cells" in text
    assert "triton is ahead on decode-8-1000" in text and "on it would be ahead over all" in text
    assert "with the 12 hours of the log drawn again 200 times" in text


MICROSECONDS = st.floats(1.0, 1e4)
PAIR = st.tuples(MICROSECONDS, MICROSECONDS)
STEPS = st.lists(st.integers(0, 50), min_size=2, max_size=8)


@settings(max_examples=30)
@given(PAIR, PAIR, st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_no_weights_leave_the_range_and_either_side_of_the_flip_share_another_is_ahead(
    fa3: tuple[float, float], triton: tuple[float, float], small: float, large: float
) -> None:
    """Times are what a process measured: whatever weights are laid over them, here as many steps of each kind."""
    assume(all(abs(math.log(new / old)) > 1e-3 for new, old in zip(triton, fa3)))
    robustness = found(run_with(fa3, triton))
    news, olds = (small * us[0] + large * us[1] for us in (triton, fa3))
    assert robustness.low * (1 - 1e-6) <= news / olds <= robustness.high * (1 + 1e-6)
    if robustness.flip_share is None:
        assert (news > olds) == (robustness.ratio > 1)
        return
    turning, elsewhere = (small * fa3[0], large * fa3[1]) if robustness.turning == (SMALL,) else (large * fa3[1], small * fa3[0])
    share = turning / (turning + elsewhere)
    assume(abs(share - robustness.flip_share) > 1e-6)
    assert ((news > olds) == (robustness.ratio > 1)) == (share < robustness.flip_share)
    assert robustness.share < robustness.flip_share


@settings(max_examples=30)
@given(STEPS.flatmap(lambda small: st.tuples(st.just(small), st.lists(st.integers(0, 50), min_size=len(small), max_size=len(small)))))
def test_hours_drawn_again_stay_between_the_ends_of_any_weights_and_turn_only_what_may_turn(hours: tuple[list[int], list[int]]) -> None:
    small, large = hours
    assume(sum(small) and sum(large))
    robustness = found(recorded(run_with((20.0, 100.0), (15.0, 130.0)), tuple(map(float, small)), tuple(map(float, large))))
    drawn = robustness.resampled
    assert drawn is not None and drawn.blocks == len(small)
    assert robustness.low - 1e-9 <= drawn.low <= drawn.high <= robustness.high + 1e-9 and 0 <= drawn.turned <= 1
    if drawn.turned > 0.03:  # more than lie beyond the end on that side
        assert drawn.low <= 1 if robustness.ratio > 1 else drawn.high >= 1
