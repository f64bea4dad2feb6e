"""What runs of before were asked and how long they took, for whoever plans another."""

from __future__ import annotations

from sqlalchemy import select

from store.database.connect import Store, reading
from store.database.outlasting import outlasts_a_restart
from store.runs.run import FINISHED, Run
from store.runs.run_rows import run_of_row
from store.tables.runs import RunRow

TUNE = "attnpin tune%"


@outlasts_a_restart
def tuned_runs(store: Store, board: str, last: int, model: str | None = None, traffic: str | None = None) -> tuple[Run, ...]:
    """The newest ``last`` that `attnpin tune` finished on a board of that name, newest first, without trials and rounds. None = any."""
    of = [RunRow.board == board, RunRow.status == FINISHED, RunRow.command.like(TUNE)]
    of += [column == name for column, name in ((RunRow.model, model), (RunRow.traffic, traffic)) if name is not None]
    rows = select(RunRow).where(*of).order_by(RunRow.key.desc()).limit(last)
    with reading(store) as session:
        return tuple(run_of_row(row, [], []) for row in session.scalars(rows))
