"""Past runs in a line each, answered from the columns that exist for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from store.database.connect import Store, reading
from store.database.outlasting import outlasts_a_restart
from store.runs.run import FOREIGN
from store.tables.measured import RoundRow
from store.tables.runs import DecisionRow, RunRow
from store.tables.side_by_sides import SideBySideRow


@dataclass(frozen=True)
class RunSummary:
    """``rounds`` stored so far; ``ruling`` of the newest decision; ``side_of`` the comparison that it is a side of, "baseline of ID"."""

    id: str
    created: str
    status: str
    model: str
    traffic: str
    engine: str
    engine_version: str | None
    board: str
    rounds: int
    ruling: str | None
    side_of: str | None = None


@outlasts_a_restart
def list_runs(store: Store, last: int | None = None) -> tuple[RunSummary, ...]:
    """Newest first, the ``last`` of them or all."""
    with reading(store) as session:
        return _summaries(session, last=last)


@outlasts_a_restart
def count_runs(store: Store) -> int:
    with reading(store) as session:
        return session.scalars(select(func.count(RunRow.key))).one()


@outlasts_a_restart
def newest_own(store: Store) -> tuple[RunSummary | None, RunSummary | None]:
    """Of those that were measured into this store: the newest that was decided, and the newest."""
    own = RunRow.status != FOREIGN
    with reading(store) as session:
        decided, newest = _summaries(session, own, _ruling().is_not(None), last=1), _summaries(session, own, last=1)
    return next(iter(decided), None), next(iter(newest), None)


@outlasts_a_restart
def foreign_runs(store: Store, model: str, traffic: str, board: str, last: int) -> tuple[RunSummary, ...]:
    """The ``last`` decided ones, newest first."""
    of = RunRow.model == model, RunRow.traffic == traffic, RunRow.board == board, RunRow.status == FOREIGN
    with reading(store) as session:
        return _summaries(session, *of, _ruling().is_not(None), last=last)


def sides(session: Session) -> Iterator[tuple[int, str, str]]:
    """Key of a run, "baseline" or "candidate", and of which comparison. For `store.past.points`, which knows ``session``."""
    for row in session.execute(select(SideBySideRow.id, SideBySideRow.baseline_key, SideBySideRow.candidate_key)):
        yield row.baseline_key, "baseline", row.id
        yield row.candidate_key, "candidate", row.id


def _summaries(session: Session, *wanted: Any, last: int | None) -> tuple[RunSummary, ...]:
    rounds = select(func.count(RoundRow.key)).where(RoundRow.run_key == RunRow.key).scalar_subquery()
    columns = RunRow.id, RunRow.created, RunRow.status, RunRow.model, RunRow.traffic, RunRow.engine, RunRow.engine_version, RunRow.board
    rows = select(*columns, rounds, _ruling(), RunRow.key).where(*wanted).order_by(RunRow.key.desc()).limit(last)
    found = {key: f"{side} of {comparison}" for key, side, comparison in sides(session)}
    return tuple(replace(RunSummary(*values), side_of=found.get(key)) for *values, key in session.execute(rows))


def _ruling() -> Any:
    """Of a run's newest decision."""
    decided = select(DecisionRow.ruling).where(DecisionRow.run_key == RunRow.key)
    return decided.order_by(DecisionRow.key.desc()).limit(1).scalar_subquery()
