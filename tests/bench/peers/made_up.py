"""Rows of processes that never ran, on times that are known."""

from __future__ import annotations

import random
from collections.abc import Mapping
from math import exp

from tests.bench.peers.rows import Reading, Row, Timed

Times = Mapping[str, Mapping[str, float]]  # us by cell and arm
START_S, CELL_S = 20.0, 2.0


def row(kind: str, index: int, timed: tuple[Timed, ...] = (), readings: tuple[Reading, ...] = (), failed: str | None = None) -> Row:
    cells = len({each.cell for each in timed} | {each.cell for each in readings})
    wall_s = START_S + CELL_S * cells
    return Row(kind, "small", 1, index, wall_s, START_S, False, "made up", (), timed=timed, readings=readings, failed=failed)


def rounds(kind: str, times: Times, processes: int, sd: float = 0.001, seed: int = 1) -> list[Row]:
    """``sd`` of ln time, drawn for each arm and process."""
    rng = random.Random(f"{kind}{seed}")
    return [row(kind, index, tuple(_timed(times, sd, rng))) for index in range(processes)]


def _timed(times: Times, sd: float, rng: random.Random) -> list[Timed]:
    return [Timed(cell, arm, (us * exp(rng.gauss(0, sd)),)) for cell, arms in times.items() for arm, us in arms.items()]


def readings(tool: str, said: Times, index: int = 0, repeats: int = 1, timing_s: float = 0.5) -> Row:
    """A process in which a tool said so, whatever is true."""
    found = tuple(
        Reading(tool, cell, arm, (us,) * repeats, timing_s * repeats, 0.25) for cell, arms in said.items() for arm, us in arms.items()
    )
    return row("plain", index, readings=found)
