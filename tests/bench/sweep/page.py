"""docs/cost-of-scale.md: what was foretold of many scenarios and what came, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from reports import numbers, wording
from reports.page import Table, markdown_table
from reports.sweep_cost import hours
from tests.bench.sweep.rows import Row

INTRODUCTION = """\
# What many scenarios cost, foretold and measured

Made by `make docs` from what `make bench-sweep` measured. Ten scenarios run first; `attnpin plan --multirun` then foretells others from
these, as it would for you from your store ([many scenarios](many-scenarios.md)); then those run as tasks of a Ray cluster of one machine
whose GPUs are simulated. A simulated GPU takes no time: what is foretold here is the time of processes that start, on cores that all
boards share, and not that of kernels. GPU time is how long jobs had a board.
"""
NOTHING = "Not measured yet.\n"
HEADER = ("", "foretold", "measured", "measured / foretold")


def render(rows: Sequence[Row]) -> str:
    return "\n".join((INTRODUCTION, *(map(_part, rows) if rows else (NOTHING,))))


def _part(row: Row) -> str:
    cells = (
        ("GPU time", hours(row.foretold_board_s), hours(row.board_s), numbers.ratio(row.board_s / row.foretold_board_s)),
        ("wall time", hours(row.foretold_wall_s), hours(row.wall_s), numbers.ratio(row.wall_s / row.foretold_wall_s)),
    )
    of = wording.count(row.scenarios, "scenario")
    done = of if row.ended == row.scenarios else f"{row.ended} of {of}"
    title = f"## {done} on {wording.count(row.boards, 'board')}\n"
    return f"{title}\n{markdown_table(Table(HEADER, cells))}\n\n{_words(row)}\n"


def _words(row: Row) -> str:
    low, middle, high = (numbers.ratio(share) for share in row.shares)
    known = ", ".join(f"{count} {ground}" for ground, count in row.grounds)
    return (
        f"Foretold from {wording.count(row.pilot, 'scenario')}: {known}. A scenario took {middle} times what was foretold of it (median; "
        f"{low} at the 10th percentile, {high} at the 90th). {hours(row.look_s)} of the wall time went into looking at all scenarios "
        f"before the first began. The store has {wording.count(row.runs, 'run')} of these {row.ended} with {row.rounds} rounds; "
        f"{row.failed} failed. {row.measured}, {wording.count(row.cpus, 'core')}, {wording.count(row.calls, 'call')}."
    )
