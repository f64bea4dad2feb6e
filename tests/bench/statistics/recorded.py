"""The same claims on rounds that were measured: how processes on an H200 scattered, drawn again and again, with changes put in.

A recorded run has few processes, but several arms: what two arms differ by in one process, less what they differ by on average, is what
a version would differ by from itself. All cells of a drawn round are of one recorded process.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from tests.bench.statistics import racing
from tests.bench.statistics.noise import Array
from tests.bench.statistics.row import Row
from tests.bench.statistics.versions import changes, hits, one_of
from tests.examples import folders, stored
from tuner.deciding.table import table_of
from tuner.objective import Process
from tuner.verdicts.rule import rule_for
from tuner.verdicts.side_by_side import Code, labels

FEWEST = 3  # processes, of which a mean still leaves something to scatter
Scatter = list[Array]  # of each cell: (pairs of arms, processes)


def claims(rng: np.random.Generator, runs: int) -> Iterator[Row]:
    scattered, rule = scatter(), rule_for("gate")
    cells = sum(len(one) for one in scattered)
    where = f"gate, recorded H200 rounds, {cells} cells"

    def judged(truth: Array) -> np.ndarray:
        return labels(drawn(rng, scattered, runs, rule.looks[-1]) + truth, rule)[0]

    same, margin = judged(np.zeros(cells)), judged(np.full(cells, math.log(1.02)))
    yield Row("V1", "any cell called regressed or improved, true change 0", where, 0, 0.001, *hits(changes(same).any(-1)))
    yield Row("V5", "cell called equivalent, true change 0", where, 0.99, 1, *hits(same == Code.EQUIVALENT))
    yield Row("V2", "any cell called regressed, all at exactly +2 %", where, 0, 0.01, *hits((margin == Code.REGRESSED).any(-1)))
    yield Row("V6", "cell at +2 % called equivalent", where, 0, 0.05, *hits(margin == Code.EQUIVALENT))
    for change, code, low in ((0.05, Code.REGRESSED, 0.99), (0.03, Code.REGRESSED, 0.0), (-0.05, Code.IMPROVED, 0.99)):
        found = judged(one_of(cells, math.log1p(change)))[:, 0] == code
        yield Row(
            "V3" if change > 0 else "V7", f"{100 * change:+.0f} % in one cell called {code.name.lower()}", where, low, 1, *hits(found)
        )
    yield from races(rng, scattered, max(1, runs // 5))


def races(rng: np.random.Generator, scattered: list[Scatter], runs: int) -> Iterator[Row]:
    """Arms whose processes scatter as recorded ones did, on one cell after another."""
    pools = [cell.ravel() / math.sqrt(2) for one in scattered for cell in one]
    for name, gaps in racing.GAPS.items():
        start = racing.course(len(gaps))
        finishes = [
            racing.race(start, gaps, np.log1p(np.array(gaps) / 100) + _arms(rng, pools, start.looks[-1], len(gaps))) for _ in range(runs)
        ]
        case = f"{name}, recorded H200 rounds"
        yield Row("V10", "the best of six arms dropped", case, 0, 0.01, sum(one.best_dropped for one in finishes), runs)
        yield Row("V10", "the pick over 1 % slower than the best", case, 0, 0.01, sum(one.loss > racing.MUCH for one in finishes), runs)


def _arms(rng: np.random.Generator, pools: list[Array], processes: int, arms: int) -> Array:
    pool = pools[rng.integers(len(pools))]
    return rng.choice(pool, (processes, arms)) * rng.choice((-1, 1), (processes, arms))


def drawn(rng: np.random.Generator, scattered: list[Scatter], runs: int, rounds: int) -> Array:
    """Differences of two equal versions, shape (runs, rounds, cells)."""
    return np.concatenate([_drawn(rng, one, runs, rounds) for one in scattered], axis=-1)


def _drawn(rng: np.random.Generator, cells: Scatter, runs: int, rounds: int) -> Array:
    process = rng.integers(cells[0].shape[1], size=(runs, rounds))
    pairs = [rng.integers(len(cell), size=(runs, rounds)) for cell in cells]
    return np.stack([cell[pair, process] * rng.choice((-1, 1), (runs, rounds)) for cell, pair in zip(cells, pairs)], axis=-1)


def scatter() -> list[Scatter]:
    """Of every recorded run with enough processes in which two arms raced to the end."""
    tables = [table_of(stored(folder)[1]) for folder in folders()]
    return list(filter(None, (_scatter(table.processes) for table in tables if len(table.processes) >= FEWEST)))


def _scatter(processes: tuple[Process, ...]) -> Scatter:
    arms: dict[str, list[str]] = {}
    for arm, cell in sorted(set.intersection(*(set(process.ln_us) for process in processes))):
        arms.setdefault(cell, []).append(arm)
    unbiased = math.sqrt(len(processes) / (len(processes) - 1))
    found = []
    for cell, names in arms.items():
        if len(names) < 2:
            continue
        levels = {name: np.array([process.ln_us[name, cell] for process in processes]) for name in names}
        apart = [levels[one] - levels[other] for one, other in combinations(names, 2)]
        found.append(np.array([difference - difference.mean() for difference in apart]) * unbiased)
    return found
