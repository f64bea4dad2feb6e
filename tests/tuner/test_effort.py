"""What it costs to resolve and filter a scenario, counted: times are for `tests.bench.limits`."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.bench.limits import Case, arms, cases, sifted
from tuner.engines.sglang import resolution
from tuner.engines.sglang.resolver.request import Request
from tuner.engines.sglang.resolver.walk import Walk

WARM, SOME = cases(150, seed=3), cases(60, seed=4)


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """What is found once for all scenarios alike is not counted."""
    assert sum(map(arms, WARM))


def test_a_scenario_is_resolved_once_and_again_only_for_backends_that_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, walked = list[Request](), resolution.walked

    def counted(request: Request) -> Walk:
        asked.append(request)
        return walked(request)

    monkeypatch.setattr(resolution, "walked", counted)
    assert sum(map(arms, SOME))
    assert len(SOME) <= len(asked) < 4 * len(SOME) and len(set(asked)) == len(asked)


def test_filtering_takes_some_thousand_calls_a_scenario() -> None:
    assert _calls(arms, SOME) / len(SOME) < 2_000


def test_the_reasons_are_written_when_somebody_asks() -> None:
    without, written = sifted(SOME[0]), sifted(SOME[0])
    assert _calls(lambda _: without.arms, SOME[:1]) < 20 < _calls(lambda _: written.exclusions, SOME[:1])
    assert written.exclusions is written.exclusions and without == written


def test_a_sifted_scenario_leaves_nothing_to_the_garbage_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        for case in SOME:
            arms(case)
        assert gc.collect() == 0
    finally:
        gc.enable()


def _calls(what: Callable[[Case], Any], some: list[Case]) -> int:
    """Calls of Python functions."""
    count = 0

    def profile(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        for case in some:
            what(case)
    finally:
        sys.setprofile(None)
    return count
