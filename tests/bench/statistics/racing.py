"""V10: races of six arms, by the rule that ships: is the best ever dropped, and is the pick ever much worse?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from backends.simulated.world import Noise
from store.decision import Pair
from store.runs.run import Run
from store.scenario import Role
from tests.bench.statistics.noise import Array, process_means
from tests.bench.statistics.row import Row
from tests.tuner.building import ENGINE, Recipe, arm, build, decode
from tuner.arithmetic.objective import Process
from tuner.deciding.contest import Contest, contest_of
from tuner.deciding.scores import objective_ms
from tuner.deciding.table import table_of
from tuner.deciding.ties import is_tied
from tuner.racing.course import Course, course_of

GAPS = {  # how much slower each arm is than the best, in percent
    "rivals 3 % apart": (0, 3, 6, 9, 12, 15),
    "one close rival": (0, 0.5, 6, 9, 12, 15),
    "1 % apart": (0, 1, 2, 3, 4, 5),
    "all within 0.6 %": (0, 0.12, 0.24, 0.36, 0.48, 0.6),
}
NOISES = (0.2, 0.5, 0.8)  # of an arm's process mean, in percent
LEVEL_US = 100.0
MUCH = math.log(1.01)


@dataclass(frozen=True)
class Finish:
    """``best_dropped``: the truly best is surely not the best. ``loss`` of the fastest of those that may be, in ln; ``tied``: how much
    slower than the best the slowest is that was called tied with the fastest. ``cost``: arms measured, as a share of all arms in all
    processes."""

    best_dropped: bool
    loss: float
    tied: float
    cost: float


def claims(rng: np.random.Generator, runs: int) -> Iterator[Row]:
    for name, gaps in GAPS.items():
        for noise in NOISES:
            finishes = races(rng, gaps, Noise(process_pct=noise), runs)
            case = f"{name}, process sd {noise} %, {100 * np.mean([one.cost for one in finishes]):.0f} % of the full cost"
            yield Row("V10", "the best of six arms dropped", case, 0, 0.01, sum(one.best_dropped for one in finishes), runs)
            yield Row("V10", "the pick over 1 % slower than the best", case, 0, 0.01, sum(one.loss > MUCH for one in finishes), runs)
    for noise in NOISES:
        finishes = races(rng, (0, 2), Noise(process_pct=noise), runs)
        missed = sum(one.tied > 0 for one in finishes)
        yield Row("V10", "two arms 2 % apart called tied", f"process sd {noise} %", 0, 0.05, missed, runs)


def races(rng: np.random.Generator, gaps: Sequence[float], noise: Noise, runs: int) -> list[Finish]:
    start = course(len(gaps))
    times = np.log1p(np.array(gaps) / 100) + process_means(rng, noise, runs, start.looks[-1], len(gaps), 1)[..., 0]
    return [race(start, gaps, each) for each in times]


def race(start: Contest, gaps: Sequence[float], times: Array) -> Finish:
    """``times``: deviations of ln time from the best's, shape (processes, arms)."""
    names, entered = list(start.table.arms), [Pair(name, name) for name in start.table.arms]
    racing, measured, processes = set(names), 0, []
    for row in times:
        processes.append(process(len(processes), {name: value for name, value in zip(names, row) if name in racing}))
        measured += len(racing)
        contest = replace(start, table=replace(start.table, processes=tuple(processes)))
        found = course_of(contest, entered)
        if found.over:
            break
        racing -= {pair.decode for pair in found.out}
    return finish(contest, found, dict(zip(names, gaps)), entered, measured / times.size)


def finish(contest: Contest, found: Course, gaps: dict[str, float], entered: Sequence[Pair], cost: float) -> Finish:
    in_it = found.in_it(entered)
    pick = min(in_it, key=lambda pair: objective_ms(contest, pair))
    tied = max(gaps[pair.decode] for pair in in_it if is_tied(contest, pair, pick))
    return Finish(entered[0] not in in_it, math.log1p(gaps[pick.decode] / 100), math.log1p(tied / 100), cost)


def process(index: int, ln_times: dict[str, float]) -> Process:
    keys = {(name, "cell"): math.log(LEVEL_US) + float(value) for name, value in ln_times.items()}
    return Process(index, keys, dict.fromkeys(keys, 10.0))


def course(arms: int, processes: int = 8) -> Contest:
    """Before the first process: a decode server whose default was not measured, so that the fastest is picked."""
    run = started(arms, processes)
    table = table_of(run)
    return contest_of(run, table, None, [Pair(name, name) for name in table.arms])


def started(arms: int, processes: int) -> Run:
    made = tuple(arm(f"arm{number}") for number in range(arms))
    times = {(one.name, "cell"): LEVEL_US for one in made}
    server = replace(ENGINE, role=Role.DECODE)
    return build(Recipe(made, times, (decode("cell"),), (made[0].backend,) * 2, processes=0, engine=server, asked=processes))
