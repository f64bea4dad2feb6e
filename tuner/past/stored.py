"""Where a past run comes from: the database, or the evidence beside a pin."""

from __future__ import annotations

from pathlib import Path

from reports import onward
from reports.wording import status
from store.database.connect import Store, file_of, open_store
from store.past.history import RunSummary, count_runs, list_runs, newest_own
from store.runs.repository import load_run, newest_run
from store.runs.run import Run
from tuner.checking.edited import unedited
from tuner.errors import UsageError
from tuner.new_run import command_line


def run_from_pin(path: Path) -> Run:
    """Raises as `unedited`."""
    return unedited(path)[1]


def run_from_store(url: str, run_id: str | None) -> tuple[Run, str | None]:
    """The run of that id; without one the newest of our own that was decided, and a sentence where a newer one was not."""
    store = existing(url)
    if run_id is not None:
        return load_run(store, run_id), None
    decided, newest = newest_own(store)
    wanted = decided or newest
    run = newest_run(store) if wanted is None else load_run(store, wanted.id)
    if run is None:
        raise UsageError(f"{store.url} holds no run yet; make one with `attnpin tune`, or name another database with store.url=URL")
    return run, None if newest is None else _newer(run, newest)


def _newer(shown: Run, newest: RunSummary) -> str | None:
    if shown.id == newest.id:
        return None
    state = f"{status(newest.status)} and has no decision"
    shown_by = onward.command("attnpin", "report", "--run", newest.id, *onward.store(command_line()))
    return f"run {newest.id}, begun later, is {state}; `{shown_by}` shows what it has so far"


def runs_in(url: str, last: int | None) -> tuple[tuple[RunSummary, ...], str | None]:
    """The ``last`` runs of the store or all, newest first; and a sentence where those are not all."""
    store = existing(url)
    runs = list_runs(store, last)
    there = len(runs) if len(runs) != last else count_runs(store)
    return runs, f"the newest {len(runs)} of {there} runs; --last 0 lists all" if there > len(runs) else None


def existing(url: str) -> Store:
    """The store at ``url``. Looking never creates a database."""
    refuse_absent(url)
    return open_store(url)


def refuse_absent(url: str) -> None:
    """Raises `UsageError` where there is no database file."""
    file = file_of(url)
    if file is not None and not file.exists():
        raise UsageError(f"There is no database {file}; make a run with `attnpin tune`, or name another one with store.url=URL")
