"""How far a tool's times are from the oracle's, whatever it picks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, median

from tests.bench.peers.oracle import Truth
from tests.bench.peers.rows import Row


@dataclass(frozen=True)
class Bias:
    """Of a tool's time over the oracle's, above 1 is longer: the median over cells and arms, lowest and highest."""

    usual: float
    low: float
    high: float


def bias(rows: Iterable[Row], known: Mapping[str, Truth], tool: str, phase: str) -> Bias | None:
    """On the cells of a phase ("decode", "prefill"); None where the tool timed nothing there."""
    mine = [reading for row in rows for reading in row.readings if reading.tool == tool and reading.us]
    found = [
        fmean(reading.us) / (truth.us * math.exp(truth.behind[reading.arm]))
        for reading in mine
        if reading.cell.startswith(phase) and (truth := known.get(reading.cell)) and reading.arm in truth.behind
    ]
    return Bias(median(found), min(found), max(found)) if found else None
