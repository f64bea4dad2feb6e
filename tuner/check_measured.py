"""`attnpin check` with a GPU: does a pin still hold where something under it changed? Measures no more than the answer takes."""

from __future__ import annotations

from pathlib import Path

from backends.environment import Environment
from store.pins.pin import Pin
from store.verdicts.checked import Checked
from store.verdicts.verdict import Verdict
from tuner.check import comparable_board, fast_verdict
from tuner.checking.edited import unedited
from tuner.checking.pinned import Pinned, as_pinned
from tuner.checking.request import Request
from tuner.checking.resting import differing, resting
from tuner.checking.settled import without_measuring
from tuner.errors import UsageError
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

        def rests_on(fast: Verdict, here: Environment) -> Pinned:
            return Pinned(pin, then, resting(then, here, fast.changes), asked.renew)

        fast, here = fast_verdict(session, settings, pin, then, lambda moved, here: begin_probe(session, rests_on(moved, here)))
        pinned = rests_on(fast, here)
        if settled := without_measuring(fast, then, pinned.rests, differing(then, here)):
            return settled
        refuse_without_gpu(asked.path, pin, here)
        begin_probe(session, pinned)
        from tuner.checking.answered import answered, screened  # here, since mostly nothing changed

        now, found = screened(pinned, fast, question, session)
    return answered(found, pinned, now, question, asked)


def refuse_without_gpu(path: Path, pin: Pin, here: Environment) -> None:
    """Raises `UsageError` where the pin is a GPU's and the worker sees none."""
    if not comparable_board(pin.valid_for, here):
        raise UsageError(
            f"pin {path} was measured on {pin.valid_for.gpu}, and no GPU is visible where the worker runs, so it cannot be measured again; "
            "add --fast to hear what moved, judge an image by --packages FILE, or name with engine.command a Python beside such a GPU"
        )


def begin_probe(session: Session, pinned: Pinned) -> None:
    """The process that looks at the first arm in question may import while the engine is asked what it makes of the pin's flags, and it
    is planned what to measure: nothing that a check waits for takes longer. Said again of the same arm it begins no other."""
    names = {name for _, name in pinned.rests.in_question}
    session.expect([(arm,) for arm in pinned.then.arms if arm.name in names][:1])
    session.import_ahead()
