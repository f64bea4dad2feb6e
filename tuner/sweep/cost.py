"""What a sweep would cost, before it is begun: from runs in the store where there are such, else from a roofline."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from statistics import median

from store.database.connect import Store, file_of, open_store
from store.past.tuned import tuned_runs
from store.runs.run import Run
from store.scenario import Scenario
from store.sweeps.sweep_cost import Cost, Ground, SweepCost
from tuner.budgeting.estimate import run_seconds, timed_cells
from tuner.command_line.boundary import sentence
from tuner.plan import make_plan
from tuner.settings import Settings
from tuner.sweep.looking import looked_at, looking_s
from tuner.sweep.wishes import Wish, shown_as, wishes

BOARDS = (1, 2, 4, 8, 16)
LAST = 5  # runs that a time is taken from
WAITING = "waiting"
# Of a job beside its run: being forked, composed, decided, written; and where the engine is asked, its import. Judgement, for cores that
# are free.
AROUND_S, ASKING_S = 1.5, 5.0

Tuned = Callable[[str, str | None, str | None], tuple[Run, ...]]  # on a board, of a model and a traffic or of any


def sweep_cost(overrides: Sequence[str], config_dir: str | None) -> SweepCost:
    """Of the scenarios that `attnpin tune` would run. Raises `UsageError` for a file or an override that cannot be read, `StoreError`."""
    found = wishes(overrides)
    looked = looked_at(found, config_dir)
    tuned = _tuned_in(next((each.store_url for each in looked if isinstance(each, Settings)), None))
    costs = tuple(_cost(shown_as(wish), each, tuned) for wish, each in zip(found, looked))
    return SweepCost(costs, walls([cost.seconds for cost in costs if cost.seconds is not None], looking_s(len(costs))))


def walls(seconds: Sequence[float], before_s: float = 0.0, boards: Iterable[int] = BOARDS) -> tuple[tuple[int, float], ...]:
    """(boards, wall time) as a sweep works them off: in their order, each on the board that is free first, ``before_s`` after its begin."""
    return tuple((count, before_s + _wall(seconds, count)) for count in boards if count == 1 or count <= len(seconds))


def _wall(seconds: Sequence[float], boards: int) -> float:
    free = [0.0] * boards
    for each in seconds:
        heapq.heapreplace(free, free[0] + each)
    return max(free)


def _tuned_in(url: str | None) -> Tuned:
    """Each question asked once. Looking creates no database."""
    file = None if url is None else file_of(url)
    store: Store | None = None if url is None or (file is not None and not file.exists()) else open_store(url)

    @cache
    def tuned(board: str, model: str | None, traffic: str | None) -> tuple[Run, ...]:
        return () if store is None else tuned_runs(store, board, LAST, model, traffic)

    return tuned


def _cost(wish: Wish, looked: Settings | Exception, tuned: Tuned) -> Cost:
    if isinstance(looked, Exception):
        return Cost(wish, None, Ground.NOTHING, sentence(looked))
    plan = make_plan(looked)
    if plan.fatal or plan.estimate.seconds is None:
        return Cost(wish, None, Ground.NOTHING, next(iter(plan.fatal), "no backend can be measured"))
    run_s, ground, why = _run_s(plan.scenario, plan.estimate.seconds, tuned)
    return Cost(wish, run_s + AROUND_S + (ASKING_S if looked.world is None else 0.0), ground, why)


def _run_s(asked: Scenario, roofline_s: float, tuned: Tuned) -> tuple[float, Ground, str]:
    board = asked.gpu.name
    if alike := [run for run in tuned(board, asked.model.name, asked.traffic.name) if _question(run.scenario) == _question(asked)]:
        return median(map(_took_s, alike)), Ground.MEASURED, f"as {_runs(alike)} of it on {board} took"
    if others := tuned(board, None, None):
        factor = median(_took_s(run) / _roofline_s(run) for run in others)
        return factor * roofline_s, Ground.SCALED, f"{factor:.2g} times its roofline, as {_runs(others)} on {board} took"
    return roofline_s, Ground.ROOFLINE, f"no finished run on {board} is stored"


def _question(scenario: Scenario) -> tuple[object, ...]:
    """What decides how long it takes on a board; neither the engine's release nor where it lies."""
    return scenario.model.name, scenario.traffic, replace(scenario.engine, version="", command=(), path=()), scenario.measure


def _runs(runs: Sequence[Run]) -> str:
    return "a run" if len(runs) == 1 else f"{len(runs)} runs"


def _took_s(run: Run) -> float:
    return sum(seconds for phase, seconds in run.wall_seconds if phase != WAITING)


def _roofline_s(run: Run) -> float:
    return run_seconds(run.scenario, run.arms, timed_cells(run.arms, run.cells, run.exclusions))
