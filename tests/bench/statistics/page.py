"""docs/error-rates.md: the rows that `make bench-statistics` left, as a table."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from reports.page import Table, markdown_table
from tests.bench.statistics.row import Row

ROWS = Path(__file__).with_name("rows.jsonl")
INTRODUCTION = """\
# How often a verdict is wrong

Made by `make bench-statistics`: the rules that ship, on noise whose truth is known. A row is a claim, in how many comparisons it was looked
at, how often it came out so, and what the true rate is at the most (or at the least) with 95 % confidence.

- *Versions* (V1 to V9) are compared round by round, a round being one fresh process of each. `gate` looks after 4, 6 and 9 rounds,
  `release` after 14 too. Noise is the standard deviation of one round's difference; half of a process's share of it is common to all cells.
  Where processes start in one of two states (V8), what is not called changed is mostly inconclusive; the more rounds there are and the
  nearer the states, the more often the mean is surely within 2 %, and "equivalent" is said of it.
- *Arms* (V10) race for at most 8 processes, with looks after 4, 6 and 8; an arm that is surely not the best leaves.
- *Stored times* (V11) are of another sitting, which is off by 1 % (standard deviation) on all cells alike.
- *Recorded H200 rounds* are those in the evidence under `examples/`, drawn again and again, with changes put in. Some of
  their cells scatter more than a claim is made for, eager prefills that wait for their host most of all; there the answer is mostly
  inconclusive, as it should be.

`attnpin tune` races by the rules of V10; `compare`, `bisect` and a `check` side by side judge by those of versions, and a `check` against
the times in its store by those of stored times.
"""
HEADER = ("", "what", "where", "target", "seen", "of", "95 % bound", "")


def read_rows() -> tuple[Row, ...]:
    return tuple(Row(**json.loads(line)) for line in ROWS.read_text().splitlines())


def write_rows(rows: Iterable[Row]) -> None:
    ROWS.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows))


def render(rows: Iterable[Row]) -> str:
    ordered = sorted(rows, key=lambda row: (int(row.claim[1:]), row.what))
    return f"{INTRODUCTION}\n{markdown_table(Table(HEADER, tuple(map(_cells, ordered))))}\n"


def _cells(row: Row) -> tuple[str, ...]:
    lower, upper = row.bounds()
    bound = "" if not _has_target(row) else f"at least {_percent(lower)}" if row.high == 1 else f"at most {_percent(upper)}"
    return row.claim, row.what, row.case, _target(row), _percent(row.rate), str(row.of), bound, _answer(row)


def _target(row: Row) -> str:
    if not _has_target(row):
        return ""
    if row.low > 0 and row.high < 1:
        return f"{_percent(row.low)} to {_percent(row.high)}"
    return f"at least {_percent(row.low)}" if row.high == 1 else f"at most {_percent(row.high)}"


def _answer(row: Row) -> str:
    return "" if not _has_target(row) else "holds" if row.holds else "missed"


def _has_target(row: Row) -> bool:
    return (row.low, row.high) != (0, 1)


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"
