"""Who has the device when: scripted processes on both sides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from backends.outcome import Outcome
from backends.wire import to_plain
from tests.tuner.comparing.made import BLOCKS, compared
from tests.tuner.comparing.test_differences import RUN, times
from tuner.comparing.differences import pairs_of
from tuner.comparing.pair_round import SideFailed, measure_pair
from tuner.workers.failure import Place, WorkerFailed

CELLS = len(RUN.cells)
(PAIR,) = pairs_of(compared(RUN, 1, times()))


class Scripted:
    """A process that waits for the device as a real one does, and says when it had it."""

    def __init__(self, side: int, played: list[tuple[int, str]], fails_at: int | None = None) -> None:
        self._side = side
        self._played = played
        self._fails_at = fails_at
        self._may = False

    def ask(self, message: Any) -> Iterator[dict[str, Any]]:
        assert message["turns"] is True
        turns = ["import", "stand", *(["prepare", *["pass"] * 2 * BLOCKS] * CELLS), "end"]
        for number, doing in enumerate(turns):
            assert number == 0 or self._may, "it goes on without the device"
            self._may = False
            if number == self._fails_at:
                raise WorkerFailed(Outcome.CRASHED, "it crashed", Place("timing", "fa3/p1", "decode_0"))
            self._played.append((self._side, doing))
            if doing == "end":
                yield {"event": "round", "round": to_plain(PAIR[self._side])}
            else:
                yield {"event": "turn"}

    def go_on(self) -> None:
        self._may = True


def play(fails_at: int | None = None, seed: int = 3) -> list[tuple[int, str]]:
    played: list[tuple[int, str]] = []
    timing = replace(RUN.scenario.measure.timing, blocks=BLOCKS)
    scenario = replace(RUN.scenario, measure=replace(RUN.scenario.measure, timing=timing))
    jobs: Any = [SimpleNamespace(scenario=scenario, hear=lambda event, headline: None)] * 2
    workers: Any = [Scripted(0, played), Scripted(1, played, fails_at)]
    assert measure_pair(jobs, [{"seed": seed}] * 2, workers, "pair 1") == PAIR
    return played


def test_each_block_lies_around_the_other_sides_block() -> None:
    passes = [side for side, doing in play() if doing == "pass"]
    blocks = [tuple(passes[place : place + 4]) for place in range(0, len(passes), 4)]
    assert len(blocks) == BLOCKS * CELLS and set(blocks) == {(0, 1, 1, 0), (1, 0, 0, 1)}


def test_both_get_ready_before_either_is_timed() -> None:
    played = play()
    timed = [place for place, (_, doing) in enumerate(played) if doing == "pass"]
    for cell in range(CELLS):
        before = played[: timed[cell * 4 * BLOCKS]]
        assert [sum(each == (side, "prepare") for each in before) for side in (0, 1)] == [cell + 1, cell + 1]


def test_who_begins_is_drawn_and_the_same_seed_draws_the_same() -> None:
    assert play(seed=1) == play(seed=1)
    assert len({tuple(play(seed=seed)) for seed in range(4)}) > 1


def test_a_process_that_fails_is_known_by_its_side() -> None:
    with pytest.raises(SideFailed) as caught:
        play(fails_at=4)
    assert (caught.value.side, caught.value.failure.arm) == (1, "fa3/p1")
