"""What was foretold of many scenarios and what came, as it is kept."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from backends.wire import from_plain, to_plain

ROWS = Path(__file__).with_name("rows.jsonl")


@dataclass(frozen=True)
class Row:
    """Of the ``ended`` among the ``scenarios`` of one sweep; sums in seconds. ``board_s`` is how long jobs had a board, ``wall_s`` how long
    the sweep took, in ``calls`` of it; ``look_s`` of these went before the first job. ``shares``: a scenario's time against what was
    foretold of it, at the 10th, 50th and 90th percentile. ``runs`` and ``rounds`` are those that the store has of it."""

    scenarios: int
    ended: int
    failed: int
    boards: int
    pilot: int
    cpus: int
    grounds: tuple[tuple[str, int], ...]
    foretold_board_s: float
    board_s: float
    foretold_wall_s: float
    wall_s: float
    look_s: float
    calls: int
    shares: tuple[float, float, float]
    runs: int
    rounds: int
    measured: str  # the day, UTC


def read_rows() -> tuple[Row, ...]:
    return tuple(from_plain(Row, json.loads(line)) for line in ROWS.read_text().splitlines()) if ROWS.exists() else ()


def write_row(row: Row) -> None:
    """In the place of one of as many scenarios and boards."""
    others = [each for each in read_rows() if (each.scenarios, each.boards) != (row.scenarios, row.boards)]
    kept = sorted([*others, row], key=lambda each: (each.scenarios, each.boards))
    ROWS.write_text("".join(json.dumps(to_plain(each)) + "\n" for each in kept))
