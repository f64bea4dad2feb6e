"""Runs side by side, one line each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from backends.wire import to_plain
from reports import wording
from reports.json_line import json_line
from reports.page import Table, text_table

if TYPE_CHECKING:
    from store.past.history import RunSummary

HEADER = ("run", "created", "status", "model", "traffic", "board", "engine", "rounds", "ruling or side")
NONE = "no run in this database; `attnpin tune` makes one\n"


def render(runs: Iterable[RunSummary]) -> str:
    """Plain text in the order given."""
    rows = tuple(map(_row, runs))
    return text_table(Table(HEADER, rows), indent="") + "\n" if rows else NONE


def render_json(runs: Iterable[RunSummary]) -> str:
    return json_line([{**to_plain(run), "status": wording.status(run.status)} for run in runs])


def _row(run: RunSummary) -> tuple[str, ...]:
    version = f" {run.engine_version}" if run.engine_version else ", not found"
    engine = f"{wording.engine(run.engine)}{version}"
    return (
        run.id,
        run.created,
        wording.status(run.status),
        run.model,
        run.traffic,
        run.board,
        engine,
        str(run.rounds),
        run.ruling or run.side_of or "",
    )
