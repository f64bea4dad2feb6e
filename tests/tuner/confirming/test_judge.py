"""From starts to a verdict: a start is the unit, and blocks are compared."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from store.serving.serving_run import Level, ServedStart
from store.verdicts.comparison import Label
from tuner.confirming.judge import contrasts, primary, verdict
from tuner.confirming.order import order

MARGIN = 0.02


def start(block: int, pinned: bool, times: dict[int, float | None]) -> ServedStart:
    levels = tuple(Level(at, time, None, time, None, None if time is None else 1000 / time) for at, time in times.items())
    return ServedStart(block, pinned, 1.0, (), None, True, (), None, None, levels)


def starts(ratios: Sequence[float], drift: float = 1.0) -> list[ServedStart]:
    """The pin's time over the other's, block by block; every start is slower than the one before by ``drift``."""
    made = []
    for number, (block, pinned) in enumerate(order(len(ratios), seed=1)):
        made.append(start(block, pinned, {8: 10 * drift**number * (ratios[block] if pinned else 1)}))
    return made


def label(made: Sequence[ServedStart]) -> Label:
    return verdict(contrasts(made, MARGIN))


def test_labels() -> None:
    assert label(starts([1.10, 1.11, 1.09])) is Label.REGRESSED
    assert label(starts([0.90, 0.91, 0.92])) is Label.IMPROVED
    assert label(starts([1.001, 0.999, 1.002])) is Label.EQUIVALENT
    assert label(starts([0.90, 1.10, 1.0])) is Label.INCONCLUSIVE
    assert label(starts([1.1])) is Label.INCONCLUSIVE and not contrasts(starts([1.1]), MARGIN)


def test_a_drift_falls_on_both_sides() -> None:
    (found,) = primary(contrasts(starts([1.0, 1.0, 1.0, 1.0], drift=1.01), MARGIN))
    assert math.isclose(found.ratio.estimate, 1.0, rel_tol=1e-9)


def test_a_change_at_one_concurrency_is_the_verdict() -> None:
    made = [start(block, pinned, {1: 10 + block / 1000, 64: 12.0 if pinned else 10.0}) for block, pinned in order(3, seed=1)]
    found = contrasts(made, MARGIN)
    assert [each.label for each in primary(found)] == [Label.EQUIVALENT, Label.REGRESSED] and verdict(found) is Label.REGRESSED


def test_rates_are_compared_as_times() -> None:
    found = {each.metric: each.ratio.estimate for each in contrasts(starts([1.1, 1.1, 1.1]), MARGIN)}
    assert math.isclose(found["output_tokens_per_s"], found["itl_ms"]) and set(found) == {"itl_ms", "ttft_ms", "output_tokens_per_s"}


def test_what_a_benchmark_did_not_say_is_not_compared() -> None:
    made = [start(block, pinned, {8: None if block == 1 else 10.0}) for block, pinned in order(4, seed=1)]
    assert primary(contrasts(made, MARGIN))[0].ratio.processes == 3


@given(st.integers(1, 20), st.integers(0, 1000))
def test_every_block_has_both_sides_and_begins_where_the_last_ended(count: int, seed: int) -> None:
    course = order(count, seed)
    sides = [pinned for _, pinned in course]
    assert [block for block, _ in course] == [block for block in range(count) for _ in (0, 1)]
    assert all(sides[2 * block] != sides[2 * block + 1] for block in range(count))
    assert all(sides[2 * block + 1] == sides[2 * block + 2] for block in range(count - 1))


def test_which_side_is_first_is_drawn() -> None:
    assert {order(3, seed)[0][1] for seed in range(20)} == {True, False}
