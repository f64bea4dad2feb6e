"""What the rest of attnpin asks of the store. Here, in `store.history`, `store.calibrations` and `store.side_by_sides` alone are
sessions; plain values go in and out.

Rules. Each call is one transaction: when it returns, what it was given is on disk; when it raises or the process dies,
nothing of it is. A run is open while its status is "running"; trials and rounds are added to open runs only. Adding
again what is stored already changes nothing; adding something else in its place is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from backends.measured import Round, Trial
from backends.outcome import Outcome
from backends.wire import to_plain
from store.connect import Store, reading, writing
from store.decision import Decision
from store.errors import AlreadyStored, RunClosed, UnknownRun
from store.measured_tables import RoundRow, TrialRow
from store.revisit import Revisit
from store.round_rows import round_of_row, row_of_round
from store.run import FINISHED, INCOMPLETE, RUNNING, Run
from store.run_keys import RunKeys
from store.run_rows import revisits_of, row_of_decision, row_of_run, run_of_row
from store.tables import RunRow, WallSecondsRow
from store.trial_rows import row_of_trial, trial_of_row


def begin_run(store: Store, run: Run, fresh: bool, reopen: bool = False) -> Run:
    """The newest open run of ``run``'s digest, with all it has so far; otherwise, or when ``fresh``, ``run`` itself, stored whole.

    ``reopen``: a run that ended incomplete counts as open, to be decided anew.
    """
    wanted = (RUNNING, INCOMPLETE) if reopen else (RUNNING,)
    with writing(store) as session:
        newest = select(RunRow).where(RunRow.digest == run.digest, RunRow.status.in_(wanted)).order_by(RunRow.key.desc()).limit(1)
        row = None if fresh else session.scalar(newest)
        if row is None:
            insert_run(session, run)
            return run
        row.status = RUNNING
        return whole_run(session, row)


def add_trials(store: Store, run_id: str, trials: Sequence[Trial]) -> None:
    """All of them or none. A later trial of the same arm and cell stands behind the earlier ones, where it may (`_overrules`)."""
    with writing(store) as session:
        keys = _keys(_open_run(session, run_id))
        for trial in trials:
            _add_trial(session, trial, keys)


def add_round(store: Store, run_id: str, measured: Round) -> None:
    """The whole round or nothing. Raises `AlreadyStored` when another process stored this index with other samples."""
    with writing(store) as session:
        put_round(session, _open_run(session, run_id), measured)


def put_round(session: Session, run: RunRow, measured: Round) -> None:
    """For the functions that know ``session`` only, as the next two."""
    row = session.scalar(select(RoundRow).where(RoundRow.run_key == run.key, RoundRow.number == measured.index))
    if row is None:
        session.add(row_of_round(measured, _keys(run)))
    elif round_of_row(row) != measured:
        raise AlreadyStored(
            f"round {measured.index} of run {run.id} was stored by another process; run the same command again, it continues after it"
        )


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


def add_wall_seconds(store: Store, run_id: str, seconds: Iterable[tuple[str, float]]) -> None:
    """Add to the run's wall time, phase by phase."""
    with writing(store) as session:
        run = _row(session, run_id)
        known = {wall.phase: wall for wall in run.wall_seconds}
        for phase, more in seconds:
            if phase in known:
                known[phase].seconds += more
            else:
                run.wall_seconds.append(WallSecondsRow(phase=phase, seconds=more))


def set_left_out(store: Store, run_id: str, sentences: Sequence[str]) -> None:
    """Replace what the run says it had no time for."""
    with writing(store) as session:
        _row(session, run_id).left_out = list(sentences)


def save_decision(store: Store, run_id: str, decision: Decision | None, status: str) -> None:
    """End the run with ``status``. Decisions taken before are kept; the newest is the run's."""
    with writing(store) as session:
        run = _row(session, run_id)
        run.status = status
        if decision is not None:
            run.decisions.append(row_of_decision(decision))


def load_run(store: Store, run_id: str) -> Run:
    with reading(store) as session:
        return whole_run(session, _row(session, run_id))


def finished_run(store: Store, digest: str) -> Run | None:
    """The newest of that digest that ended with a decision."""
    with reading(store) as session:
        row = session.scalar(_newest_first().where(RunRow.digest == digest, RunRow.status == FINISHED))
        return None if row is None else whole_run(session, row)


def finished_runs(store: Store, digest: str) -> tuple[Run, ...]:
    """All of that digest that ended with a decision, oldest first."""
    with reading(store) as session:
        rows = session.scalars(select(RunRow).where(RunRow.digest == digest, RunRow.status == FINISHED).order_by(RunRow.key))
        return tuple(whole_run(session, row) for row in rows)


def newest_run(store: Store) -> Run | None:
    """The run begun last, whatever became of it."""
    with reading(store) as session:
        row = session.scalar(_newest_first())
        return None if row is None else whole_run(session, row)


def _newest_first() -> Select[RunRow]:
    return select(RunRow).order_by(RunRow.key.desc()).limit(1)


def _row(session: Session, run_id: str) -> RunRow:
    row = session.scalar(select(RunRow).where(RunRow.id == run_id))
    if row is None:
        newest = session.scalar(_newest_first())
        hint = "it holds none yet" if newest is None else f"the newest is {newest.id}"
        raise UnknownRun(f"the store has no run {run_id!r}; {hint}")
    return row


def _open_run(session: Session, run_id: str) -> RunRow:
    run = _row(session, run_id)
    if run.status != RUNNING:
        raise RunClosed(f"run {run_id} was ended ({run.status}) by another process; run the same command again")
    return run


def _keys(run: RunRow) -> RunKeys:
    return RunKeys(run.key, {arm.name: arm.key for arm in run.arms}, {cell.name: cell.key for cell in run.cells})


def insert_run(session: Session, run: Run) -> RunRow:
    row = row_of_run(run)
    session.add(row)
    session.flush()
    keys = _keys(row)
    session.add_all(row_of_trial(trial, keys) for trial in run.trials)
    session.add_all(row_of_round(measured, keys) for measured in run.rounds)
    return row


def _add_trial(session: Session, trial: Trial, keys: RunKeys) -> None:
    row = row_of_trial(trial, keys)
    same = select(TrialRow).where(TrialRow.arm_key == row.arm_key, TrialRow.cell_key == row.cell_key).order_by(TrialRow.key)
    stored = [trial_of_row(earlier) for earlier in session.scalars(same)]
    if trial in stored:
        return
    if stored and not _overrules(trial.outcome, stored[-1].outcome):
        raise AlreadyStored(f"a trial of {trial.arm} on {trial.cell} was stored by another process; run the same command again")
    session.add(row)


def _overrules(new: Outcome, stored: Outcome) -> bool:
    """An interrupted trial says nothing of its arm; a good one is withdrawn when its arm fails later, in a round."""
    return stored is Outcome.INTERRUPTED or (stored is Outcome.MEASURED and new not in (Outcome.MEASURED, Outcome.INTERRUPTED))


def whole_run(session: Session, run: RunRow) -> Run:
    trials = session.scalars(select(TrialRow).where(TrialRow.run_key == run.key).order_by(TrialRow.key))
    rounds = session.scalars(select(RoundRow).where(RoundRow.run_key == run.key).order_by(RoundRow.number))
    return run_of_row(run, [trial_of_row(row) for row in trials], [round_of_row(row) for row in rounds])
