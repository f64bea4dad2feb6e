"""What a check measures and what it makes of that: today's run, both versions in one sitting, the pin written anew."""

from __future__ import annotations

from dataclasses import replace

from store.database.connect import Store, open_store
from store.runs.run import Run
from store.verdicts.checked import Checked
from store.verdicts.verdict import Verdict
from tuner.checking import concluding
from tuner.checking.confirm import PRESENT, NotToBeHad, beside_each_other, old_versions
from tuner.checking.measuring import measured, same_code
from tuner.checking.pinned import Pinned
from tuner.checking.request import Request
from tuner.checking.sittings import sitting_noise
from tuner.checking.ways_out import next_call
from tuner.compare import compare_as
from tuner.comparing.side import beside
from tuner.conclude import write
from tuner.device.session import Session
from tuner.errors import Incomplete, UsageError
from tuner.settings import Settings


def screened(pinned: Pinned, fast: Verdict, question: Settings, session: Session) -> tuple[Run, Checked]:
    """Today's run, and what it says beside the pin's."""
    store = open_store(question.store_url)
    session.progress.notes(store.notes)
    now = measured(pinned, question, store, session)
    return now, by_screen(pinned, fast, now, store)


def answered(found: Checked, pinned: Pinned, now: Run, question: Settings, asked: Request) -> Checked:
    """Both versions side by side where that is called for, then the pin written anew, if that was asked for."""
    if asked.confirm and concluding.calls_for_both(found, pinned):
        found = _side_by_side(found, pinned, now, question, asked)
    return _concluded(found, pinned, now, asked)


def by_screen(pinned: Pinned, fast: Verdict, now: Run, store: Store) -> Checked:
    """By the code where it is the same, else by today's times against the pin's."""
    if same_code(pinned, now):
        return concluding.by_code(pinned, fast, now)
    return concluding.by_times(pinned, fast, now, sitting_noise(store, pinned.then, now))


def _side_by_side(found: Checked, pinned: Pinned, now: Run, question: Settings, asked: Request) -> Checked:
    """With the old versions laid over a copy of the present environment, where that can be done."""
    try:
        old = old_versions(pinned.then, found.fast.changes)
        narrowed = beside_each_other(question, now, pinned.rests)
        settings = narrowed, beside(narrowed, narrowed)
        compared = compare_as((old, PRESENT), settings, question.config_dir, asked.wheels, earlier=(now, pinned.then))
    except (NotToBeHad, UsageError, Incomplete) as objection:
        return concluding.unconfirmed(found, str(objection))
    return concluding.by_both(found, pinned, now, compared.measured, compared.verdict)


def _concluded(found: Checked, pinned: Pinned, now: Run, asked: Request) -> Checked:
    """The pin written anew, if that was asked for, and what else can be done."""
    if asked.renew and now.decision and concluding.may_be_written(now):
        write(now, now.decision, asked.path)
        found = replace(found, written=True)
    return concluding.with_ways_out(found, next_call(pinned, now, str(asked.path), _replaced(pinned, found.fast), asked.wheels))


def _replaced(pinned: Pinned, fast: Verdict) -> tuple[str, ...]:
    try:
        return old_versions(pinned.then, fast.changes).packages
    except NotToBeHad:
        return ()
