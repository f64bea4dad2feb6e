"""What the rest of attnpin asks of the store about runs. Plain values go in and out. Transactions are begun, beside
this file, in `store.boards`, `store.comparisons`, `store.past` and `store.exchange`; `store.runs.run_in_session` has the pieces that they
share.

Rules. Each call is one transaction: when it returns, what it was given is on disk; when it raises or the process dies,
nothing of it is. A run is open while its status is "running"; trials and rounds are added to open runs only. Adding
again what is stored already changes nothing; adding something else in its place is refused. So a call may be made twice,
and is, where a server went away in the middle of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from backends.anchored import Anchors
from backends.measured import Round, Trial
from backends.wire import to_plain
from store.database.connect import Store, reading, writing
from store.database.outlasting import outlasts_a_restart
from store.database.postgresql import locked, one_at_a_time
from store.decision import Decision
from store.errors import AlreadyStored, RunClosed, UnknownRun
from store.revisit import Revisit
from store.runs.run import FINISHED, FOREIGN, INCOMPLETE, RUNNING, Run
from store.runs.run_in_session import insert_run, put_cells, put_round, put_trial, run_keys, whole_run
from store.runs.run_rows import anchors_of_row, revisits_of, row_of_decision
from store.scenario import WeightedCell
from store.tables.runs import RunRow, WallSecondsRow

Seconds = Sequence[tuple[str, float]]  # of wall time, by phase


@outlasts_a_restart
def begin_run(store: Store, run: Run, fresh: bool, reopen: bool = False) -> Run:
    """The newest open run of ``run``'s digest, with all it has so far; otherwise, or when ``fresh``, ``run`` itself, stored whole.

    ``reopen``: a run that ended incomplete counts as open, to be decided anew.
    """
    wanted = (RUNNING, INCOMPLETE) if reopen else (RUNNING,)
    with writing(store) as session:
        one_at_a_time(session, run.digest)
        mine = select(RunRow).where(RunRow.id == run.id, RunRow.digest == run.digest)  # by a call that was not confirmed
        newest = select(RunRow).where(RunRow.digest == run.digest, RunRow.status.in_(wanted)).order_by(RunRow.key.desc()).limit(1)
        row = session.scalar(locked(mine if fresh else newest))
        if row is None:
            insert_run(session, run)
            return run
        row.status = RUNNING
        return whole_run(session, row)


@outlasts_a_restart
def add_trials(store: Store, run_id: str, trials: Sequence[Trial], seconds: Seconds = ()) -> None:
    """All of them or none, and ``seconds`` as `add_wall_seconds`. A later trial of the same arm and cell stands behind the earlier ones,
    where it may (`run_in_session`)."""
    with writing(store) as session:
        run = _open_run(session, run_id)
        keys = run_keys(run)
        for trial in trials:
            put_trial(session, trial, keys)
        _add_seconds(run, seconds)


@outlasts_a_restart
def add_round(store: Store, run_id: str, measured: Round, seconds: Seconds = ()) -> None:
    """The whole round or nothing, and ``seconds`` as `add_wall_seconds`. Raises `AlreadyStored` when another process stored this index with
    other samples."""
    with writing(store) as session:
        run = _open_run(session, run_id)
        put_round(session, run, measured)
        _add_seconds(run, seconds)


@outlasts_a_restart
def add_revisit(store: Store, run_id: str, revisit: Revisit) -> None:
    """Raises `AlreadyStored` when another process stored this index with other times."""
    with writing(store) as session:
        run = _open_run(session, run_id)
        stored = revisits_of(run)
        if all(each.index != revisit.index for each in stored):
            run.revisits = to_plain((*stored, revisit))
        elif revisit not in stored:
            raise AlreadyStored(
                f"revisit {revisit.index} of run {run_id} was stored by another process; run the same command again, it continues after it"
            )


@outlasts_a_restart
def add_anchors(store: Store, run_id: str, taken: Anchors) -> None:
    """Beside those that were taken before; the same once."""
    with writing(store) as session:
        run = _open_run(session, run_id)
        stored = anchors_of_row(run)
        run.anchors = to_plain(stored if taken in stored else (*stored, taken))


@outlasts_a_restart
def add_wall_seconds(store: Store, run_id: str, seconds: Seconds) -> None:
    """Add to the run's wall time, phase by phase; twice where the server went away as it confirmed."""
    with writing(store) as session:
        _add_seconds(_locked_row(session, run_id), seconds)


def _add_seconds(run: RunRow, seconds: Seconds) -> None:
    known = {wall.phase: wall for wall in run.wall_seconds} if seconds else {}
    for phase, more in seconds:
        if phase in known:
            known[phase].seconds += more
        else:
            run.wall_seconds.append(WallSecondsRow(phase=phase, seconds=more))


@outlasts_a_restart
def set_left_out(store: Store, run_id: str, sentences: Sequence[str]) -> None:
    """Replace what the run says it had no time for."""
    with writing(store) as session:
        _locked_row(session, run_id).left_out = list(sentences)


@outlasts_a_restart
def set_cells(store: Store, run_id: str, cells: Sequence[WeightedCell]) -> None:
    """The cells of an open run from now on: those it has with their new weights, and others behind them; none goes."""
    with writing(store) as session:
        put_cells(_open_run(session, run_id), cells)


@outlasts_a_restart
def save_decision(store: Store, run_id: str, decision: Decision | None, status: str) -> None:
    """End the run with ``status``. Decisions taken before are kept; the newest is the run's."""
    with writing(store) as session:
        run = _locked_row(session, run_id)
        taken = run.decisions[-1].decision if run.decisions and run.status == status else None
        run.status = status
        if decision is not None and to_plain(decision) != taken:
            run.decisions.append(row_of_decision(decision))


@outlasts_a_restart
def load_run(store: Store, run_id: str) -> Run:
    with reading(store) as session:
        return whole_run(session, _row(session, run_id))


@outlasts_a_restart
def finished_run(store: Store, digest: str) -> Run | None:
    """The newest of that digest that ended with a decision."""
    with reading(store) as session:
        row = session.scalar(_newest_first().where(RunRow.digest == digest, RunRow.status == FINISHED))
        return None if row is None else whole_run(session, row)


@outlasts_a_restart
def finished_runs(store: Store, digest: str) -> tuple[Run, ...]:
    """All of that digest that ended with a decision, oldest first."""
    with reading(store) as session:
        rows = session.scalars(select(RunRow).where(RunRow.digest == digest, RunRow.status == FINISHED).order_by(RunRow.key))
        return tuple(whole_run(session, row) for row in rows)


@outlasts_a_restart
def newest_since(store: Store, digest: str, since: str) -> Run | None:
    """The newest of our own of that digest that was begun at ``since`` (ISO 8601 UTC) or later, whatever became of it."""
    with reading(store) as session:
        row = session.scalar(_newest_first().where(RunRow.digest == digest, RunRow.created >= since, RunRow.status != FOREIGN))
        return None if row is None else whole_run(session, row)


@outlasts_a_restart
def newest_run(store: Store) -> Run | None:
    """The run begun last, whatever became of it."""
    with reading(store) as session:
        row = session.scalar(_newest_first())
        return None if row is None else whole_run(session, row)


def _newest_first() -> Select[RunRow]:
    return select(RunRow).order_by(RunRow.key.desc()).limit(1)


def _row(session: Session, run_id: str) -> RunRow:
    return _found(session, run_id, session.scalar(_of(run_id)))


def _locked_row(session: Session, run_id: str) -> RunRow:
    """For what changes the run or adds to it: others that do wait."""
    return _found(session, run_id, session.scalar(locked(_of(run_id))))


def _of(run_id: str) -> Select[RunRow]:
    return select(RunRow).where(RunRow.id == run_id)


def _found(session: Session, run_id: str, row: RunRow | None) -> RunRow:
    if row is None:
        newest = session.scalar(_newest_first())
        hint = "it holds none yet" if newest is None else f"the newest is {newest.id}"
        raise UnknownRun(f"the store has no run {run_id!r}; {hint}")
    return row


def _open_run(session: Session, run_id: str) -> RunRow:
    run = _locked_row(session, run_id)
    if run.status != RUNNING:
        raise RunClosed(f"run {run_id} was ended ({run.status}) by another process; run the same command again")
    return run
