"""A run and its parts put into a session and read out of one, for the functions whose transaction it is."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from backends.measured import Round, Trial
from backends.outcome import Outcome
from store.errors import AlreadyStored
from store.runs.round_rows import round_of_row, row_of_round
from store.runs.run import Run
from store.runs.run_keys import RunKeys
from store.runs.run_rows import row_of_cell, row_of_run, run_of_row
from store.runs.trial_rows import row_of_trial, storable, trial_of_row
from store.scenario import WeightedCell
from store.tables.measured import RoundRow, TrialRow
from store.tables.runs import RunRow


def insert_run(session: Session, run: Run) -> RunRow:
    row = row_of_run(run)
    session.add(row)
    session.flush()
    keys = run_keys(row)
    session.add_all(row_of_trial(trial, keys) for trial in run.trials)
    session.add_all(row_of_round(measured, keys) for measured in run.rounds)
    return row


def whole_run(session: Session, run: RunRow) -> Run:
    trials = session.scalars(select(TrialRow).where(TrialRow.run_key == run.key).order_by(TrialRow.key))
    rounds = session.scalars(select(RoundRow).where(RoundRow.run_key == run.key).order_by(RoundRow.number))
    return run_of_row(run, [trial_of_row(row) for row in trials], [round_of_row(row) for row in rounds])


def run_keys(run: RunRow) -> RunKeys:
    return RunKeys(run.key, {arm.name: arm.key for arm in run.arms}, {cell.name: cell.key for cell in run.cells})


def put_cells(run: RunRow, cells: Sequence[WeightedCell]) -> None:
    known = {row.name: row for row in run.cells}
    for ordinal, row in enumerate(map(row_of_cell, range(len(cells)), cells)):
        if (stored := known.get(row.name)) is None:
            run.cells.append(row)
        else:
            stored.ordinal = ordinal
            stored.calls_per_1000_tokens, stored.token_share = row.calls_per_1000_tokens, row.token_share


def put_trial(session: Session, trial: Trial, keys: RunKeys) -> None:
    trial = storable(trial)
    row = row_of_trial(trial, keys)
    same = select(TrialRow).where(TrialRow.arm_key == row.arm_key, TrialRow.cell_key == row.cell_key).order_by(TrialRow.key)
    stored = [trial_of_row(earlier) for earlier in session.scalars(same)]
    if trial in stored:
        return
    if stored and not _overrules(trial.outcome, stored[-1].outcome):
        raise AlreadyStored(f"a trial of {trial.arm} on {trial.cell} was stored by another process; run the same command again")
    session.add(row)


def put_round(session: Session, run: RunRow, measured: Round) -> None:
    """Raises `AlreadyStored` when another process stored this index with other samples."""
    row = session.scalar(select(RoundRow).where(RoundRow.run_key == run.key, RoundRow.number == measured.index))
    if row is None:
        session.add(row_of_round(measured, run_keys(run)))
    elif round_of_row(row) != measured:
        raise AlreadyStored(
            f"round {measured.index} of run {run.id} was stored by another process; run the same command again, it continues after it"
        )


def _overrules(new: Outcome, stored: Outcome) -> bool:
    """An interrupted trial says nothing of its arm; a good one is withdrawn when its arm fails later, in a round."""
    return stored is Outcome.INTERRUPTED or (stored is Outcome.MEASURED and new not in (Outcome.MEASURED, Outcome.INTERRUPTED))
