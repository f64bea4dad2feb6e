"""`attnpin check` with a GPU: does a pin still hold where something under it changed? Measures no more than the answer takes."""

from __future__ import annotations

from pathlib import Path

from backends.environment import Environment
from store.pins.pin import Pin
from store.verdicts.checked import Checked
from store.verdicts.verdict import Verdict
from tuner.check import fast_verdict
from tuner.checking.changes import comparable_board
from tuner.checking.edited import unedited
from tuner.checking.pinned import Pinned, as_pinned
from tuner.checking.request import Request
from tuner.checking.resting import arms_to_measure, differing, resting
from tuner.checking.settled import without_measuring
from tuner.device.session import Session
from tuner.device.session_of import session_of
from tuner.errors import UsageError
from tuner.progress import Progress
from tuner.settings import Settings

__all__ = ["Request", "check_measured"]


def check_measured(asked: Request, settings: Settings) -> Checked:
    """Raises `StoreError` for a pin or evidence that cannot be read, `UsageError` for a command that does not start."""
    pin, then = unedited(asked.path)
    if asked.renew:
        from tuner.pinning.place import refuse_unwritable

        refuse_unwritable(asked.path, settings.store_url, settings.scenario.gpu.name)
    question = as_pinned(settings, then)
    with Progress() as progress, session_of(question, progress) as session:

        def rests_on(fast: Verdict, here: Environment) -> Pinned:
            return Pinned(pin, then, resting(then, here, fast.changes), asked.renew)

        fast, here = fast_verdict(session.keeper, settings, pin, then, lambda moved, here: begin_probe(session, rests_on(moved, here)))
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
    """The process that looks at the first arm in question may import, and the one that times first, while the engine is asked what it
    makes of the pin's flags, and it is planned what to measure. Said again of the same arms it begins no other."""
    names, arms = {name for _, name in pinned.rests.in_question}, pinned.then.arms
    first = next(((arm,) for arm in arms if arm.name in names), None)
    session.expect([first, arms_to_measure(pinned.then, arms, pinned.rests)] if first else [])
    session.import_ahead()
