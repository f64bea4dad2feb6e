"""The same claims on rounds that were measured: how processes on an H200 scattered, drawn again and again, with changes put in.

A recorded run has few processes, but several arms: what two arms differ by in one process, less what they differ by on average, is what
a version would differ by from itself. All cells of a drawn round are of one recorded process. A handful of processes says how far values
scatter, not which values there are: drawn as they are, four rounds would be of one value, as if nothing scattered, in one case of some
hundred. So each draw is smoothed (`smoothed`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from tests.bench.statistics import racing
from tests.bench.statistics.noise import Array
from tests.bench.statistics.row import Row
from tests.bench.statistics.versions import changes, hits
from tests.examples import folders, stored
from tuner.arithmetic.objective import Process
from tuner.deciding.table import table_of
from tuner.verdicts.rule import rule_for
from tuner.verdicts.side_by_side import Code, labels

QUIET_SD = 0.008  # of a difference of ln(time): what V3, V5 and V7 are claimed up to
FEWEST = 3  # processes, of which a mean still leaves something to scatter
Scatter = list[Array]  # of each cell: (pairs of arms, processes)


def claims(rng: np.random.Generator, runs: int) -> Iterator[Row]:
    """What must not be said is looked at on all cells; what must be seen, on those that scatter no more than the claim asks for."""
    scattered, rule, recorded = scatter(), rule_for("gate"), "recorded H200 rounds"
    flat = [cell for one in scattered for cell in one]
    quiet, cells, within = quiet_of(flat), len(flat), f"within {100 * QUIET_SD:g} %"
    everywhere, calm = f"gate, {recorded}, {cells} cells", f"gate, {recorded}, the {len(quiet)} cells {within}"

    def judged(truth: Array) -> np.ndarray:
        return labels(drawn(rng, scattered, runs, rule.looks[-1]) + truth, rule)[0]

    same, margin = judged(np.zeros(cells)), judged(np.full(cells, math.log(1.02)))
    yield Row("V1", "any cell called regressed or improved, true change 0", everywhere, 0, 0.001, *hits(changes(same).any(-1)))
    yield Row("V2", "any cell called regressed, all at exactly +2 %", everywhere, 0, 0.01, *hits((margin == Code.REGRESSED).any(-1)))
    yield Row("V5", "cell called equivalent, true change 0", calm, 0.99, 1, *hits(np.asarray(same[..., quiet] == Code.EQUIVALENT)))
    yield Row("V5", "cell called equivalent, true change 0", everywhere, 0, 1, *hits(same == Code.EQUIVALENT))
    yield Row("V6", "cell at +2 % called equivalent", everywhere, 0, 0.05, *hits(margin == Code.EQUIVALENT))
    for change, code, low in ((0.05, Code.REGRESSED, 0.99), (0.03, Code.REGRESSED, 0.0), (-0.05, Code.IMPROVED, 0.99)):
        found = judged(np.eye(cells)[quiet[0]] * math.log1p(change))[..., quiet[0]] == code
        said = f"{100 * change:+.0f} % in one cell called {code.name.lower()}"
        yield Row("V3" if change > 0 else "V7", said, calm, low, 1, *hits(found))
    yield from races(rng, [flat[number] for number in quiet], max(1, runs // 5), f"{recorded} {within}", 0.01)
    yield from races(rng, flat, max(1, runs // 5), recorded, 1.0)


def quiet_of(cells: Scatter) -> list[int]:
    """Numbers of those whose recorded differences scatter by no more than `QUIET_SD`."""
    return [number for number, cell in enumerate(cells) if math.sqrt((cell**2).mean()) <= QUIET_SD]


def races(rng: np.random.Generator, cells: Scatter, runs: int, where: str, most: float) -> Iterator[Row]:
    """Arms whose processes scatter as recorded ones did, on one cell after another; ``most``: how often it may go wrong."""
    pools = [cell.ravel() / math.sqrt(2) for cell in cells]
    for name, gaps in racing.GAPS.items():
        start = racing.course(len(gaps))
        finishes = [
            racing.race(start, gaps, np.log1p(np.array(gaps) / 100) + _arms(rng, pools, start.looks[-1], len(gaps))) for _ in range(runs)
        ]
        case = f"{name}, {where}"
        yield Row("V10", "the best of six arms dropped", case, 0, most, sum(one.best_dropped for one in finishes), runs)
        yield Row("V10", "the pick over 1 % slower than the best", case, 0, most, sum(one.loss > racing.MUCH for one in finishes), runs)


def _arms(rng: np.random.Generator, pools: list[Array], processes: int, arms: int) -> Array:
    pool = pools[rng.integers(len(pools))]
    return smoothed(rng, rng.choice(pool, (processes, arms)) * rng.choice((-1, 1), (processes, arms)), pool)


def drawn(rng: np.random.Generator, scattered: list[Scatter], runs: int, rounds: int) -> Array:
    """Differences of two equal versions, shape (runs, rounds, cells)."""
    return np.concatenate([_drawn(rng, one, runs, rounds) for one in scattered], axis=-1)


def _drawn(rng: np.random.Generator, cells: Scatter, runs: int, rounds: int) -> Array:
    process = rng.integers(cells[0].shape[1], size=(runs, rounds))
    pairs = [rng.integers(len(cell), size=(runs, rounds)) for cell in cells]
    values = [cell[pair, process] * rng.choice((-1, 1), (runs, rounds)) for cell, pair in zip(cells, pairs)]
    return np.stack([smoothed(rng, drawn, cell) for drawn, cell in zip(values, cells)], axis=-1)


def smoothed(rng: np.random.Generator, drawn: Array, known: Array) -> Array:
    """``drawn`` out of ``known`` values, each moved by a normal kernel of Silverman's width for as many values, and drawn together again so
    that the variance stays (the smoothed bootstrap, Silverman and Young 1987)."""
    width = 1.06 * known.size**-0.2
    spread = width * math.sqrt((known**2).mean())
    return np.asarray((drawn + rng.normal(0.0, spread, drawn.shape)) / math.sqrt(1 + width**2))


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
