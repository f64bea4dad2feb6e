from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.cell import Phase
from reports import effect, tails
from store.decision import Decision, Pair
from tests.reports import building


def decided() -> Decision:
    """With a rest of the prefill step that has two ends."""
    decode, prefill = building.decision().steps
    return replace(building.decision(), steps=(decode, replace(prefill, rest_ms_high=131.0)))


PICK = Pair(building.FA3, building.FLASHINFER)


def found(decision: Decision | None = None) -> tuple[tails.Tail, ...]:
    decision = decision or decided()
    return tails.tails(building.run(decision), decision, PICK)


def of(metric: str, at: float, all_of_them: tuple[tails.Tail, ...]) -> tails.Tail:
    return next(tail for tail in all_of_them if (tail.metric, tail.percentile) == (metric, at))


@given(st.lists(st.tuples(st.floats(0.1, 100), st.floats(0.01, 10)), min_size=1), st.floats(0.01, 1))
def test_a_percentile_leaves_at_most_the_rest_of_the_weight_above_it(weighed: list[tuple[float, float]], at: float) -> None:
    value = tails.percentile(weighed, at)
    total = sum(weight for _, weight in weighed)
    assert sum(weight for ms, weight in weighed if ms > value) <= (1 - at) * total * (1 + 1e-6) + 1e-6
    assert sum(weight for ms, weight in weighed if ms >= value) >= (1 - at) * total * (1 - 1e-6)


def test_the_median_gap_is_a_decode_step_and_the_tail_has_a_prefill_step_in_it() -> None:
    decision = decided()
    run = building.run(decision)
    (decode,) = [one for one in run.cells if one.cell.phase is Phase.DECODE and not one.is_guard]
    prefills = [one for one in run.cells if one.cell.phase is Phase.PREFILL and not one.is_guard]
    models = effect.models(decision)
    step = models[decode.cell.name]
    median, tail = of("TPOT", 0.5, found()), of("TPOT", 0.99, found())
    chance = sum(one.calls_per_1000_tokens for one in prefills) / decode.calls_per_1000_tokens
    assert 0.01 < chance < 0.5
    assert median.default_ms[0] == pytest.approx(step.attention_ms + step.rest_ms_low)
    longest = max(models[one.cell.name].attention_ms + models[one.cell.name].rest_ms_low for one in prefills)
    assert tail.default_ms[0] == pytest.approx(median.default_ms[0] + longest)


def test_a_faster_decode_kernel_moves_the_median_more_than_the_tail() -> None:
    median, tail = of("TPOT", 0.5, found()), of("TPOT", 0.99, found())
    assert median.change[0] < tail.change[0] < 0 and median.change[1] < tail.change[1] < 0
    assert of("TTFT", 0.5, found()).change == (0.0, 0.0)


def test_the_median_change_is_that_of_the_whole_where_there_is_one_kind_of_step() -> None:
    decision = decided()
    tpot, _ = effect.of_pair(building.run(decision), decision, PICK)
    assert of("TPOT", 0.5, found()).change == pytest.approx((tpot.low, tpot.high))


def test_where_nothing_bounds_the_rest_there_is_no_tail() -> None:
    unbounded = tuple(replace(step, rest_ms_high=None) for step in building.decision().steps)
    assert found(replace(decided(), steps=unbounded)) == ()


def test_without_a_default_nothing_is_predicted() -> None:
    assert found(replace(decided(), default=None)) == ()


def test_the_section_says_what_it_counts() -> None:
    decision = decided()
    section = tails.section(building.run(decision), decision, PICK)
    assert section is not None
    note, table = section.body
    assert isinstance(note, str) and "prefill steps in between included" in note
    assert isinstance(table, tails.Table) and [row[:2] for row in table.rows] == [(m, p) for m in ("TPOT", "TTFT") for p in ("p50", "p99")]
    assert tails.section(building.run(decision), decision, None) is None
