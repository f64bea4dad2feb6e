"""`attnpin check` with a GPU: does a pin still hold where something under it changed? Measures no more than the answer takes."""

from __future__ import annotations

from store.verdicts.checked import Checked
from tuner.check import fast_verdict
from tuner.checking.edited import unedited
from tuner.checking.pinned import Pinned, as_pinned
from tuner.checking.request import Request
from tuner.checking.resting import differing, resting
from tuner.checking.settled import without_measuring
from tuner.progress import Progress
from tuner.session import Session
from tuner.session_of import session_of
from tuner.settings import Settings

__all__ = ["Request", "check_measured"]


def check_measured(asked: Request, settings: Settings) -> Checked:
    """Raises `StoreError` for a pin or evidence that cannot be read, `UsageError` for a command that does not start."""
    pin, then = unedited(asked.path)
    if asked.renew:
        from tuner.pin_place import refuse_unwritable

        refuse_unwritable(asked.path, settings.store_url, settings.scenario.gpu.name)
    question = as_pinned(settings, then)
    with Progress() as progress, session_of(question, progress) as session:
        fast, here = fast_verdict(session, settings, pin, then)
        pinned = Pinned(pin, then, resting(then, here, fast.changes), asked.renew)
        if settled := without_measuring(fast, then, pinned.rests, differing(then, here)):
            return settled
        begin_probe(session, pinned)
        from tuner.checking.answered import answered, screened  # here, since mostly nothing changed

        now, found = screened(pinned, fast, question, session)
    return answered(found, pinned, now, question, asked)


def begin_probe(session: Session, pinned: Pinned) -> None:
    """The process that looks at the first arm in question may import while it is still planned what to measure: nothing that a check
    waits for takes longer."""
    names = {name for _, name in pinned.rests.in_question}
    session.expect([(arm,) for arm in pinned.then.arms if arm.name in names][:1])
    session.import_ahead()
