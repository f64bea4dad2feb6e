"""A run of another store as it is stored here: whole, or what it has more than ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.orm import Session

from backends.wire import from_plain, to_plain
from store.decision import Decision
from store.digest import canonical
from store.exchange.items import Plain
from store.runs.round_rows import row_of_round
from store.runs.run import Run
from store.runs.run_in_session import insert_run, put_cells, run_keys
from store.runs.run_rows import row_of_decision
from store.runs.trial_rows import row_of_trial
from store.tables.runs import DecisionRow, RunRow, WallSecondsRow

Taken = tuple[str, Any]  # when a decision was taken, and which


@dataclass(frozen=True)
class State:
    """``decisions``: every one that was taken on it, oldest first."""

    run: Run
    decisions: tuple[Taken, ...]

    def called(self, name: str) -> State:
        return replace(self, run=replace(self.run, id=name))

    def decided(self, row: RunRow) -> bool:
        """Whether all its decisions are stored."""
        return _together(_taken(row), self.decisions) == _taken(row)


def state_of(value: Plain) -> State:
    """Raises ValueError for what is none."""
    decisions = value.get("decisions")
    if not isinstance(decisions, list):
        raise ValueError("a run without its decisions")
    for _, plain in decisions:
        from_plain(Decision, plain)
    return State(from_plain(Run, value["run"]), tuple((str(created), plain) for created, plain in decisions))


def value_of(run: Run) -> Plain:
    """Of a run of which the newest decision alone is known."""
    return {"run": to_plain(run), "decisions": [list(each) for each in _of(run)]}


def insert(session: Session, state: State) -> RunRow:
    row = insert_run(session, replace(state.run, decision=None))
    _decide(session, row, state.decisions or _of(state.run))
    return row


def extend(session: Session, row: RunRow, stored: Run, both: Run, theirs: State) -> None:
    """``row`` holds ``stored`` and is to hold ``both``, and all decisions of ``theirs``."""
    put_cells(row, both.cells)
    session.flush()
    keys = run_keys(row)
    session.add_all(row_of_trial(trial, keys) for trial in both.trials[len(stored.trials) :])
    session.add_all(row_of_round(each, keys) for each in both.rounds if each not in stored.rounds)
    row.status, row.left_out, row.revisits, row.anchors = both.status, list(both.left_out), to_plain(both.revisits), to_plain(both.anchors)
    known = {wall.phase: wall for wall in row.wall_seconds}
    for phase, seconds in both.wall_seconds:
        if phase in known:
            known[phase].seconds = seconds
        else:
            row.wall_seconds.append(WallSecondsRow(phase=phase, seconds=seconds))
    _decide(session, row, _together(_taken(row), theirs.decisions))


def _decide(session: Session, row: RunRow, taken: Sequence[Taken]) -> None:
    """In the order in which they were taken: the newest counts."""
    if list(taken) == _taken(row):
        return
    for old in row.decisions:
        session.delete(old)
    session.flush()
    session.expire(row, ["decisions"])
    for created, plain in taken:
        session.add(_row(row, created, plain))
        session.flush()  # their order is that of their keys
    session.expire(row, ["decisions"])


def _row(run: RunRow, created: str, plain: Any) -> DecisionRow:
    row = row_of_decision(from_plain(Decision, plain))
    row.created, row.run_key, row.decision = created, run.key, plain  # as it was written, by whichever attnpin
    return row


def _taken(row: RunRow) -> list[Taken]:
    return [(each.created, each.decision) for each in row.decisions]


def _of(run: Run) -> list[Taken]:
    return [] if run.decision is None else [(run.created, to_plain(run.decision))]


def _together(ours: Sequence[Taken], theirs: Sequence[Taken]) -> list[Taken]:
    """Ours, and those of theirs that say something else; the last is the one that was taken last, though it was taken before too."""
    known = {canonical(plain) for _, plain in ours}
    found = sorted([*ours, *(each for each in theirs if canonical(each[1]) not in known)], key=lambda each: each[0])
    again = bool(ours and theirs) and theirs[-1][0] > ours[-1][0] and canonical(theirs[-1][1]) != canonical(found[-1][1])
    return [*found, theirs[-1]] if again else found
