"""What must not change a decision, and what must turn it over."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from backends.measured import CellRound, Visit
from store.decision import Decision, Interval, Pair, Ruling
from store.runs.run import Run
from store.scenario import WeightedCell
from tests.tuner.building import DECODE, PREFILL, Recipe, arm, build, decode, one_cell_each, prefill, rescaled
from tuner.decide import decide

TIMES = {"fa3": (554.0, 98.0), "flashinfer": (722.0, 35.0), "triton": (800.0, 60.0)}
RUN = one_cell_each(TIMES)


def reshaped(run: Run, change: object) -> Run:
    """Every cell of every round passed through ``change``."""
    assert callable(change)
    return replace(run, rounds=tuple(replace(round_, cells=tuple(map(change, round_.cells))) for round_ in run.rounds))


def ratios(decision: Decision) -> dict[Pair, Interval]:
    return {score.pair: score.ratio for score in decision.scores if score.ratio is not None}


def assert_same(one: Decision, two: Decision, rel: float = 1e-12) -> None:
    assert (one.ruling, one.pick, one.flags) == (two.ruling, two.pick, two.flags)
    mine, others = ratios(one), ratios(two)
    assert mine.keys() == others.keys() and mine
    for pair, found in mine.items():
        assert (others[pair].low, others[pair].estimate, others[pair].high) == pytest.approx(
            (found.low, found.estimate, found.high), rel=rel
        )


def test_making_the_rival_the_default_turns_every_ratio_over() -> None:
    times = {"fa3": TIMES["fa3"], "flashinfer": TIMES["flashinfer"]}
    one = decide(one_cell_each(times))
    two = decide(one_cell_each(times, default=("flashinfer", "flashinfer")))
    forward = ratios(one)[Pair("flashinfer/p1", "flashinfer/p1")]
    back = ratios(two)[Pair("fa3/p1", "fa3/p1")]
    assert (1 / back.high, 1 / back.estimate, 1 / back.low) == pytest.approx((forward.low, forward.estimate, forward.high), rel=1e-12)


def test_a_slower_clock_for_all_leaves_the_ratios_alone() -> None:
    assert_same(decide(RUN), decide(rescaled(RUN, 1.7)), rel=1e-9)


def test_a_linear_drift_over_every_block_sequence_leaves_the_estimate_alone() -> None:
    def drifting(cell: CellRound) -> CellRound:
        visits = [replace(visit, sample_us=tuple(us * math.exp(1e-3 * t) for us in visit.sample_us)) for t, visit in enumerate(cell.visits)]
        return replace(cell, visits=tuple(visits))

    assert_same(decide(RUN), decide(reshaped(RUN, drifting)), rel=1e-12)


def test_the_order_of_blocks_and_of_processes_does_not_matter() -> None:
    def shuffled(cell: CellRound) -> CellRound:
        return replace(cell, visits=tuple(random.Random(1).sample(cell.visits, len(cell.visits))))

    other = reshaped(replace(RUN, rounds=RUN.rounds[::-1]), shuffled)
    assert_same(decide(RUN), decide(other))


def test_the_order_of_arms_and_cells_does_not_matter() -> None:
    other = replace(RUN, arms=RUN.arms[::-1], cells=RUN.cells[::-1], trials=RUN.trials[::-1])
    assert_same(decide(RUN), decide(other))


def test_repeating_every_replay_makes_nothing_surer() -> None:
    def doubled(cell: CellRound) -> CellRound:
        return replace(cell, visits=tuple(replace(visit, sample_us=visit.sample_us * 2) for visit in cell.visits))

    one, two = decide(RUN), decide(reshaped(RUN, doubled))
    assert one == two


def test_repeating_every_block_makes_nothing_surer() -> None:
    def doubled(cell: CellRound) -> CellRound:
        again: list[Visit] = [replace(visit, block=visit.block + 4) for visit in cell.visits]
        return replace(cell, visits=(*cell.visits, *again))

    assert_same(decide(RUN), decide(reshaped(RUN, doubled)))


def test_a_renamed_arm_decides_alike() -> None:
    arms = (arm("fa3"), arm("zzz"))
    times = {("fa3/p1", PREFILL): 554.0, ("fa3/p1", DECODE): 98.0, ("zzz/p1", PREFILL): 722.0, ("zzz/p1", DECODE): 35.0}
    renamed = {(name.replace("zzz", "aaa"), cell): us for (name, cell), us in times.items()}
    one, two = decide(build(Recipe(arms, times))), decide(build(Recipe((arm("fa3"), arm("aaa")), renamed)))
    assert (one.pick, two.pick) == (Pair("fa3/p1", "zzz/p1"), Pair("fa3/p1", "aaa/p1"))
    assert [score.ratio for score in one.scores] == [score.ratio for score in two.scores]


def test_a_cell_split_in_two_decides_alike() -> None:
    half = decode(tokens=0.5)
    twin = WeightedCell(replace(half.cell, name="twin"), half.layers, half.calls_per_1000_tokens, half.token_share)
    whole = build(Recipe(tuple(map(arm, TIMES)), _table({DECODE}), process_sd=0.0, visit_sd=0.0))
    split = build(Recipe(tuple(map(arm, TIMES)), _table({DECODE, "twin"}), (half, twin, prefill()), process_sd=0.0, visit_sd=0.0))
    assert_same(decide(whole), decide(split), rel=1e-9)


def _table(decodes: set[str]) -> dict[tuple[str, str], float]:
    prefills = {(f"{name}/p1", PREFILL): pair[0] for name, pair in TIMES.items()}
    return prefills | {(f"{name}/p1", cell): pair[1] for name, pair in TIMES.items() for cell in decodes}


def test_more_processes_of_the_same_kind_find_smaller_differences() -> None:
    few, many = decide(one_cell_each(TIMES, processes=4)), decide(one_cell_each(TIMES, processes=16))
    assert few.minimum_detectable_effect and many.minimum_detectable_effect
    assert many.minimum_detectable_effect < few.minimum_detectable_effect / 2


def test_no_noise_at_all_still_has_an_interval() -> None:
    found = decide(one_cell_each(TIMES, process_sd=0.0, visit_sd=0.0))
    assert found.ruling is Ruling.SWITCH
    assert all(ratio.low < ratio.estimate < ratio.high for ratio in ratios(found).values())


def test_a_decision_is_a_function_of_the_run() -> None:
    assert decide(RUN) == decide(RUN)
