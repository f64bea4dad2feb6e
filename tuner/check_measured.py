"""`attnpin check` with a GPU: does a pin still hold where something under it changed? Measures no more than the answer takes."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from store.checked import Checked
from store.connect import open_store
from store.evidence import read_evidence
from store.pin_files import read_pin, verify_evidence
from store.run import Run
from store.verdict import Verdict
from tuner.check import fast_verdict
from tuner.checking import concluding
from tuner.checking.confirm import PRESENT, NotToBeHad, beside_each_other, old_versions
from tuner.checking.measuring import measured, same_code
from tuner.checking.pinned import Pinned, as_pinned, refuse_edited
from tuner.checking.resting import differing, resting
from tuner.checking.sittings import sitting_noise
from tuner.clock import PhaseClock
from tuner.compare import compare_as
from tuner.comparing.side import beside
from tuner.errors import Incomplete, UsageError
from tuner.pin_place import refuse_unwritable
from tuner.progress import Progress
from tuner.session import Session
from tuner.settings import Settings
from tuner.tune import worker_code, write


@dataclass(frozen=True)
class Request:
    """``renew``: write the pin anew. ``confirm``: both versions side by side where stored times do not settle it, the old ones from
    the folder ``wheels`` or an index."""

    path: Path
    renew: bool = False
    confirm: bool = True
    wheels: str | None = None


def check_measured(asked: Request, settings: Settings) -> Checked:
    """Raises `StoreError` for a pin or evidence that cannot be read, `UsageError` for a command that does not start."""
    pin = read_pin(asked.path)
    then = read_evidence(verify_evidence(asked.path, pin))
    refuse_edited(pin, then)
    if asked.renew:
        refuse_unwritable(asked.path, settings.store_url)
    question = as_pinned(settings, then)
    with Progress() as progress, _session(question, progress) as session:
        fast, here = fast_verdict(session, settings, pin, then)
        pinned = Pinned(pin, then, resting(then, here, fast.changes), asked.renew)
        if settled := concluding.without_measuring(fast, then, pinned.rests, differing(then, here)):
            return settled
        store = open_store(settings.store_url)
        for note in store.notes:
            progress.note(note)
        now = measured(pinned, question, store, session)
    if same_code(pinned, now):
        found = concluding.by_code(pinned, fast, now)
    else:
        found = concluding.by_times(pinned, fast, now, sitting_noise(store, then, now))
    if asked.confirm and concluding.calls_for_both(found, pinned):
        found = _side_by_side(found, pinned, now, question, asked)
    return _concluded(found, pinned, now, asked)


def _session(settings: Settings, progress: Progress) -> Session:
    engine, ahead = settings.scenario.engine, settings.scenario.measure.import_ahead
    return Session(engine, progress, PhaseClock(), worker_code(settings), ahead, settings.world)


def _side_by_side(found: Checked, pinned: Pinned, now: Run, question: Settings, asked: Request) -> Checked:
    """With the old versions laid over a copy of the present environment, where that can be done."""
    try:
        old = old_versions(pinned.then, found.fast.changes)
        narrowed = beside_each_other(question, now, pinned.rests)
        compared = compare_as((old, PRESENT), (narrowed, beside(narrowed, narrowed)), question.config_dir, asked.wheels)
    except (NotToBeHad, UsageError, Incomplete) as objection:
        return concluding.unconfirmed(found, str(objection))
    return concluding.by_both(found, pinned, now, compared.measured, compared.verdict)


def _concluded(found: Checked, pinned: Pinned, now: Run, asked: Request) -> Checked:
    """The pin written anew, if that was asked for, and what else can be done."""
    if asked.renew and now.decision and concluding.may_be_written(now):
        write(now, now.decision, asked.path)
        found = replace(found, written=True)
    return concluding.with_ways_out(found, shlex.quote(str(asked.path)), _replaced(pinned, found.fast))


def _replaced(pinned: Pinned, fast: Verdict) -> tuple[str, ...]:
    try:
        return old_versions(pinned.then, fast.changes).packages
    except NotToBeHad:
        return ()
