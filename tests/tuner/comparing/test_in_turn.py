"""Processes one after the other, where two may not stand on the device at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace, TracebackType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.wire import to_plain
from store.plan import Plan
from tests.tuner.comparing.made import compared
from tests.tuner.comparing.test_differences import RUN, times
from tuner.comparing.differences import pairs_of
from tuner.comparing.in_turn import order_of, why_in_turn
from tuner.comparing.pair_round import measure_in_turn
from tuner.plan import make_plan
from tuner.settings import compose

(PAIR,) = pairs_of(compared(RUN, 1, times()))
BOARD = replace(RUN.environment.board, mig=None)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(compose(["model=qwen3_8b", "gpu=h200", "backend=[fa3]"]))


@given(seed=st.integers(0, 2**31), first=st.integers(0, 100))
def test_every_two_pairs_are_a_balanced_block(seed: int, first: int) -> None:
    one, other = order_of(seed, 2 * first), order_of(seed, 2 * first + 1)
    assert sorted(one) == [0, 1] and other == one[::-1]


def test_which_side_begins_is_left_to_chance() -> None:
    assert {order_of(1, index) for index in range(0, 40, 2)} == {(0, 1), (1, 0)}


class Process:
    """One that notes when it comes and goes."""

    def __init__(self, side: int, seen: list[str]) -> None:
        self._side, self._seen = side, seen

    def __enter__(self) -> Process:
        self._seen.append(f"{self._side} comes")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._seen.append(f"{self._side} goes")

    def ask(self, message: Any) -> Iterator[dict[str, Any]]:
        assert message["turns"] is False
        yield {"event": "round", "round": to_plain(PAIR[self._side])}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_second_process_begins_when_the_first_has_gone(order: tuple[int, int]) -> None:
    seen: list[str] = []
    session = SimpleNamespace(clock=SimpleNamespace(enter=lambda phase: None))
    jobs: Any = [SimpleNamespace(session=session, hear=lambda event, headline: None)] * 2
    workers: Any = [Process(side, seen) for side in (0, 1)]
    assert measure_in_turn(jobs, [{}, {}], workers, order, "pair 1") == PAIR
    assert seen == [f"{side} {doing}" for side in order for doing in ("comes", "goes")]


def test_what_forbids_two_processes_is_said(plan: Plan) -> None:
    assert why_in_turn(BOARD, False, plan) is None
    assert why_in_turn(BOARD, True, plan) == "the GPU's compute mode lets one process in at a time"
    assert why_in_turn(replace(BOARD, mig="1g.18gb"), False, plan) == "the GPU is a MIG slice (1g.18gb)"
    small = why_in_turn(replace(BOARD, memory_bytes=4 << 30), False, plan)
    assert small is not None and "of KV, and either of two processes has 1.19 GiB for it" in small
    assert why_in_turn(replace(BOARD, memory_bytes=None), False, plan) is None
