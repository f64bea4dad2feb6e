"""A run whose arms come out of a search, before its first process."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from backends.capability import BackendEntry
from reports.searched import in_a_sentence
from store.database.connect import Store
from store.plan import Plan
from store.runs.repository import begin_run, newest_since
from store.runs.run import INCOMPLETE, RUNNING, Run
from tuner.device.session import Session
from tuner.search.screen import NothingBeside
from tuner.search.search import Request, claim, raced, searched

EVER = ""  # before any time


def begin_searched(
    store: Store, session: Session, plan: Plan, entries: Iterable[BackendEntry], begun: Run, fresh: bool, reopen: bool = False
) -> Run:
    """`begin_run`: where the scenario wishes a search and none is done for an unfinished run, ``begun`` with the finalists as its arms."""
    search, space = plan.scenario.measure.search, plan.space
    if search is None or space is None or (not fresh and _is_open(store, begun.digest, reopen)):
        return begin_run(store, begun, fresh, reopen)
    request = Request(store, begun.digest, fresh, search)
    try:
        found = searched(request, plan, space, session)
    except NothingBeside as failure:
        session.progress.note(f"no knob was searched, since the default fails: {failure}")
        return begin_run(store, begun, fresh, reopen)
    session.progress.note(in_a_sentence(found))
    chosen = raced(plan, entries, space, found)
    begun = replace(begun, searched=found, arms=chosen.arms, exclusions=chosen.exclusions, terms=chosen.terms)
    run = begin_run(store, begun, fresh, reopen)
    claim(request, plan, space, run.id)
    return run


def _is_open(store: Store, digest: str, reopen: bool) -> bool:
    known = newest_since(store, digest, EVER)
    return known is not None and known.status in ((RUNNING, INCOMPLETE) if reopen else (RUNNING,))
