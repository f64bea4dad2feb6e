"""What many scenarios would cost, one line each, and all of them on so many boards."""

from __future__ import annotations

from collections import Counter

from backends.wire import to_plain
from reports import numbers, wording
from reports.json_line import json_line
from reports.page import Table, clean, text_table
from reports.sweep import names, short
from store.sweeps.sweep_cost import Cost, SweepCost

HEADER = ("scenario", "time", "known from", "")


def render_text(cost: SweepCost) -> str:
    rows = tuple(map(_row, cost.costs, names([each.overrides for each in cost.costs])))
    counts = Counter(each.ground.value for each in cost.costs)
    grounds = ", ".join(f"{count} {ground}" for ground, count in counts.most_common())
    walls = ", ".join(f"{hours(seconds)} on {wording.count(boards, 'board')}" for boards, seconds in cost.walls)
    return (
        f"{text_table(Table(HEADER, rows), indent='')}\n\n"
        f"{wording.count(len(cost.costs), 'scenario')}: {grounds}\n"
        f"GPU time  {hours(cost.board_seconds)}, of one GPU a scenario, whatever its ranks; kernel builds come on top of a roofline\n"
        f"wall time {walls}; with executor.exclusive_host=true a board is a host, whose other GPUs stand idle\n"
    )


def render_json(cost: SweepCost) -> str:
    return json_line({**to_plain(cost), "board_seconds": cost.board_seconds})


def hours(seconds: float) -> str:
    """ "2.35 h" from an hour on."""
    return numbers.seconds(seconds) if seconds < 3600 else f"{numbers.significant(seconds / 3600, 3)} h"


def _row(cost: Cost, known_by: str) -> tuple[str, ...]:
    return known_by, "" if cost.seconds is None else hours(cost.seconds), cost.ground.value, short(clean(cost.why))
