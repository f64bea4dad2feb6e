"""Comparisons in the store: begun, gone on with, ended. Each call is one transaction; a pair of rounds is stored whole or not at all."""

from __future__ import annotations

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from backends.measured import Round
from store.comparisons.side_by_side import SideBySide
from store.database.connect import Store, reading, writing
from store.database.outlasting import outlasts_a_restart
from store.database.postgresql import locked, one_at_a_time
from store.errors import RunClosed, UnknownRun
from store.runs.run import FINISHED, RUNNING
from store.runs.run_in_session import insert_run, put_round, whole_run
from store.tables.runs import RunRow
from store.tables.side_by_sides import SideBySideRow


@outlasts_a_restart
def begin_side_by_side(store: Store, begun: SideBySide, fresh: bool) -> SideBySide:
    """The newest open one of ``begun``'s digest with all it has so far; otherwise, or when ``fresh``, ``begun`` itself, stored whole."""
    with writing(store) as session:
        one_at_a_time(session, begun.digest)
        row = session.scalar(locked(_of(begun.id) if fresh else _newest(begun.digest, RUNNING)))
        return _insert(session, begun) if row is None else _whole(session, row)


@outlasts_a_restart
def add_pair(store: Store, comparison: str, pair: tuple[Round, Round]) -> None:
    """Both rounds or neither. Raises as `store.runs.repository.add_round`."""
    with writing(store) as session:
        row = _row(session, locked(_of(comparison)), comparison)
        if row.status != RUNNING:
            raise RunClosed(f"comparison {comparison} was ended ({row.status}) by another process; run the same command again")
        for key, measured in zip((row.baseline_key, row.candidate_key), pair):
            put_round(session, session.get_one(RunRow, key), measured)


@outlasts_a_restart
def end_side_by_side(store: Store, comparison: str, status: str) -> None:
    """Both its runs end with it."""
    with writing(store) as session:
        row = _row(session, locked(_of(comparison)), comparison)
        row.status = status
        for key in (row.baseline_key, row.candidate_key):
            session.get_one(RunRow, key).status = status


@outlasts_a_restart
def load_side_by_side(store: Store, comparison: str) -> SideBySide:
    """Raises `UnknownRun`."""
    with reading(store) as session:
        return _whole(session, _row(session, _of(comparison), comparison))


@outlasts_a_restart
def finished_side_by_side(store: Store, digest: str) -> SideBySide | None:
    """The newest of that digest that came to an end."""
    with reading(store) as session:
        row = session.scalar(_newest(digest, FINISHED))
        return None if row is None else _whole(session, row)


def _newest(digest: str, status: str) -> Select[SideBySideRow]:
    wanted = select(SideBySideRow).where(SideBySideRow.digest == digest, SideBySideRow.status == status)
    return wanted.order_by(SideBySideRow.key.desc()).limit(1)


def _of(comparison: str) -> Select[SideBySideRow]:
    return select(SideBySideRow).where(SideBySideRow.id == comparison)


def _row(session: Session, wanted: Select[SideBySideRow], comparison: str) -> SideBySideRow:
    row = session.scalar(wanted)
    if row is None:
        raise UnknownRun(f"the store has no comparison {comparison!r}; attnpin history lists its runs")
    return row


def _insert(session: Session, begun: SideBySide) -> SideBySide:
    keys = [insert_run(session, run).key for run in (begun.baseline, begun.candidate)]
    row = SideBySideRow(
        id=begun.id,
        digest=begun.digest,
        status=begun.status,
        created=begun.created,
        command=begun.command,
        said=list(begun.said),
        together=begun.together,
        baseline_key=keys[0],
        candidate_key=keys[1],
    )
    session.add(row)
    return begun


def _whole(session: Session, row: SideBySideRow) -> SideBySide:
    baseline, candidate = (whole_run(session, session.get_one(RunRow, key)) for key in (row.baseline_key, row.candidate_key))
    return SideBySide(
        id=row.id,
        digest=row.digest,
        status=row.status,
        created=row.created,
        command=row.command,
        said=(row.said[0], row.said[1]),
        baseline=baseline,
        candidate=candidate,
        together=row.together,
    )
