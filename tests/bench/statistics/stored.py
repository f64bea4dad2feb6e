"""V11: new times against those of an earlier sitting, which is off by itself."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tests.bench.statistics.noise import Array, process_means, with_spread
from tests.bench.statistics.row import Row
from tests.bench.statistics.versions import BASE, CELLS, hits, one_of
from tuner.verdicts import correction, stored
from tuner.verdicts.session import SessionNoise, assumed, session_noise

SESSION = 0.010  # sd of what a sitting adds to every cell's ln time
PROCESSES = 6
SITTINGS = 10  # pairs of them, of the same versions, that the store knows


def claims(rng: np.random.Generator, runs: int) -> Iterator[Row]:
    for case, known in (("session noise assumed", False), (f"session noise of {SITTINGS} pairs of sittings", True)):
        same = [screened(rng, np.zeros(CELLS), known) for _ in range(runs)]
        slower = [screened(rng, one_of(CELLS, math.log(1.05)), known) for _ in range(runs)]
        false = np.array([flagged.any() for flagged, _ in same])
        found = np.array([flagged[0] or doubted[0] for flagged, doubted in slower])
        yield Row("V11", f"any of {CELLS} cells called regressed, true change 0", case, 0, 0.001, *hits(false))
        yield Row("V11", f"+5 % in one of {CELLS} cells suspect or regressed", case, 0.95, 1, *hits(found))


def screened(rng: np.random.Generator, truth: Array, known: bool) -> tuple[np.ndarray, np.ndarray]:
    """(regressed, suspect) of every cell."""
    noise = noise_of(rng) if known else assumed(same_board=True)
    new, old = (sitting(rng, len(truth)) for _ in range(2))
    found = stored.difference(new + truth, old, correction.none(len(truth)), noise)
    return stored.regressed(found), stored.suspect(found)


def sitting(rng: np.random.Generator, cells: int) -> Array:
    return process_means(rng, with_spread(BASE, 0.8), 1, PROCESSES, 1, cells)[0, :, 0] + SESSION * rng.standard_normal()


def noise_of(rng: np.random.Generator) -> SessionNoise:
    """As the store would have it from sittings of the same versions, on one cell."""
    pairs = [(sitting(rng, 1)[:, 0], sitting(rng, 1)[:, 0]) for _ in range(SITTINGS)]
    differences = [float(new.mean() - old.mean()) for new, old in pairs]
    within = [float((new.var(ddof=1) + old.var(ddof=1)) / PROCESSES) for new, old in pairs]
    return session_noise(differences, within, same_board=True)
