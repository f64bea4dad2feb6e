"""Who measures which round, and what becomes of it: boards without workers, whose rounds are cut out of ones with every arm."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from backends.measured import Round
from backends.outcome import Outcome
from store.runs.run import Run
from tests.tuner.building import DECIDE
from tests.tuner.racing.playing import play, seated, started
from tuner.job import Job
from tuner.racing.next_round import NextRound, next_round
from tuner.rounds.ahead import RoundsAhead
from tuner.rounds.lent import Answer, Gone, Order
from tuner.workers.failure import Place, WorkerFailed

WHOLE = started({"fa3": (500.0, 100.0), "flashinfer": (500.0, 80.0), "triton": (900.0, 150.0)}, decide=replace(DECIDE, min_gain=0.001))
CRASH = WorkerFailed(Outcome.CRASHED, "signal 11", Place("timing", "triton/p1", None))
LOST = WorkerFailed(Outcome.INTERRUPTED, "killed", Place())
LOST_AT_TRITON = WorkerFailed(Outcome.INTERRUPTED, "killed", Place("timing", "triton/p1", None))
Work = Callable[[int, Order, Round], Answer | None]  # None: it is never done


class Site:
    """``work`` is what another board makes of a round; what is at home is measured well. ``here`` and ``there`` list who was asked for
    what, in order."""

    def __init__(self, others: int, work: Work = lambda place, order, measured: measured) -> None:
        self.places, self._work = others, work
        self.here: list[int] = []
        self.there: list[tuple[int, int]] = []
        self.notes: list[str] = []
        self.fails_here: WorkerFailed | None = None  # from the second round on

    def begin(self, place: int, order: Order) -> Future[Answer]:
        self.there.append((place, order.index))
        answer: Future[Answer] = Future()
        done = self._work(place, order, replace(seated(WHOLE.rounds[order.index], order.message["coming"]), board=f"lent {place}"))
        if done is not None:
            answer.set_result(done)
        return answer

    def _measured(self, job: Job, run: Run, coming: NextRound) -> Round:
        self.here.append(coming.index)
        if self.fails_here is not None and coming.index:
            raise self.fails_here
        return replace(seated(WHOLE.rounds[coming.index], coming), board="own")

    def race(self) -> Run:
        quiet = SimpleNamespace(phase=lambda *words: None, note=self.notes.append)
        session = SimpleNamespace(progress=quiet, clock=SimpleNamespace(enter=lambda phase: None), expect=lambda *arms, **how: None)
        job: Any = SimpleNamespace(session=session, everyone=False)
        stage: Any = None
        ahead = RoundsAhead(
            *(job, self, self._measured),
            lambda job, run, coming: Order(coming.index, {"coming": coming}, stage, coming.arms, coming.confirms),
        )
        run = replace(WHOLE, rounds=())
        while coming := next_round(run):
            run = replace(run, rounds=(*run.rounds, ahead.measured(run, coming)))
        return run


def unnamed(run: Run) -> tuple[Round, ...]:
    return tuple(replace(measured, board=None) for measured in run.rounds)


@pytest.mark.parametrize("others", [1, 2, 3, 7])
def test_each_board_has_every_so_manieth_round_and_the_race_is_that_of_one(others: int) -> None:
    site = Site(others)
    run = site.race()
    boards = ["own", *(f"lent {place}" for place in range(others))]
    assert unnamed(run) == play(WHOLE).rounds
    assert [measured.board for measured in run.rounds] == [boards[index % (others + 1)] for index in range(len(run.rounds))]
    assert sorted((*site.here, *(index for _, index in site.there))) == list(range(len(run.rounds)))


def test_a_board_that_goes_away_is_done_without_and_its_round_measured_here() -> None:
    site = Site(1, lambda place, order, measured: Gone("its node went away"))
    run = site.race()
    assert unnamed(run) == play(WHOLE).rounds and {measured.board for measured in run.rounds} == {"own"}
    assert site.there == [(0, 1)] and site.notes == ["a board beside this one measures no more: its node went away"]


@pytest.mark.parametrize("failure", [LOST, LOST_AT_TRITON])
def test_a_process_that_breaks_off_elsewhere_is_told_at_its_turn_whatever_arm_it_was_at(failure: WorkerFailed) -> None:
    """Though triton has left by then: no arm is to blame."""
    failures = [failure]
    site = Site(1, lambda place, order, measured: failures.pop() if failures and order.index == 1 else measured)
    with pytest.raises(WorkerFailed, match="killed"):
        site.race()
    assert site.here[0] == 0 and (0, 1) in site.there


def test_the_failure_of_an_arm_that_has_left_meanwhile_costs_a_repetition_and_no_arm() -> None:
    failures = [CRASH]
    site = Site(1, lambda place, order, measured: failures.pop() if failures else measured)
    run = site.race()
    assert unnamed(run) == play(WHOLE).rounds
    assert 1 in site.here and (0, 1) in site.there


def failing(arm: str, failed: list[int]) -> Work:
    """A lent board on which ``arm`` fails whenever it is in a round."""

    def work(place: int, order: Order, measured: Round) -> Answer:
        if arm not in {each.name for each in order.arms}:
            return measured
        failed.append(order.index)
        return WorkerFailed(Outcome.CRASHED, "signal 11", Place("timing", arm, None))

    return work


def test_an_arm_that_fails_on_a_lent_board_alone_stays_in_the_race_and_the_board_is_done_without() -> None:
    failed: list[int] = []
    site = Site(1, failing("fa3/p1", failed))
    run = site.race()
    assert [replace(measured, labels=()) for measured in unnamed(run)] == list(play(WHOLE).rounds)
    assert failed == [1] == [index for _, index in site.there]
    word = "fa3/p1 failed on another board (crashed) and not on the run's own"
    assert [measured.labels for measured in run.rounds[:3]] == [(), (word,), ()]
    assert site.notes[0].startswith("round 2 broke off on another board") and site.notes[1:] == [
        f"a board beside this one measures no more: {word}"
    ]


def test_an_arm_that_fails_on_the_run_s_own_board_too_is_lost_with_that_reason() -> None:
    site = Site(1, failing("flashinfer/p1", []))
    site.fails_here = WorkerFailed(Outcome.CRASHED, "here too", Place("timing", "flashinfer/p1", None))
    with pytest.raises(WorkerFailed, match="here too"):
        site.race()
    assert site.here == [0, 1] and len(site.notes) == 1


def test_of_several_ranks_an_arm_that_fails_on_any_board_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = replace(WHOLE.scenario, engine=replace(WHOLE.scenario.engine, tensor_parallel=2))
    monkeypatch.setitem(globals(), "WHOLE", replace(WHOLE, scenario=scenario))
    site = Site(1, failing("flashinfer/p1", []))
    with pytest.raises(WorkerFailed, match="signal 11"):
        site.race()
    assert 1 not in site.here and not site.notes


def test_a_round_that_a_race_ended_without_keeps_its_board_busy_and_nobody_waits_for_it() -> None:
    """Only the default is left after the first process, and three are enough of it: the fourth was begun for nothing."""
    alone = started({"fa3": (500.0, 100.0), "triton": (900.0, 150.0)})
    site = Site(3, lambda place, order, measured: None if order.index == 3 else measured)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "WHOLE", alone)
        run = site.race()
    assert unnamed(run) == play(alone).rounds and len(run.rounds) == 3
