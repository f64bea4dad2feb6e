"""From what was found to the answer: its word, its exit code, what would be pinned. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from backends.outcome import Outcome
from reports import wording
from store.decision import Decision, Ruling
from store.pins.pin import Pin
from store.runs.run import Run
from store.verdicts.checked import Action, Answer, Next
from store.verdicts.comparison import Label
from store.verdicts.version_verdict import Broken, Row
from tuner.checking.resting import Resting, cells_of
from tuner.comparing.judge import GRAVITY
from tuner.errors import OK, REGRESSED, Incomplete, WrongResults
from tuner.unmeasured.regressions import served_pair

ANSWERS = {
    Label.REGRESSED: Answer.REGRESSED,
    Label.SUSPECT: Answer.SUSPECT,
    Label.INCONCLUSIVE: Answer.INCONCLUSIVE,
    Label.IMPROVED: Answer.IMPROVED,
    Label.EQUIVALENT: Answer.EQUIVALENT,
}
GRAVE = (Answer.REGRESSED, Answer.WRONG, Answer.SUSPECT)
SETTLED = (Label.EQUIVALENT, Label.IMPROVED)
CODES = {
    Answer.WRONG: WrongResults.exit_code,
    Answer.REGRESSED: REGRESSED,
    Answer.SUSPECT: Incomplete.exit_code,
    Answer.INCONCLUSIVE: Incomplete.exit_code,
    Answer.STALE: Incomplete.exit_code,
}


def exit_code(answer: Answer) -> int:
    return CODES.get(answer, OK)


def label_of(served: Iterable[Row], broken: Iterable[Broken], then: Run, rests: Resting, changed: bool) -> Label:
    """Of what is served, against the stored times; where none of it ``changed`` it is as it was."""
    if any(is_served(each, then, rests) for each in broken):
        return Label.REGRESSED
    labels = {row.verdict.label for row in served}
    if not labels:
        return Label.INCONCLUSIVE if changed else Label.EQUIVALENT
    return next(label for label in GRAVITY if label in labels)


def is_served(each: Broken, then: Run, rests: Resting) -> bool:
    return any(arm == each.arm and each.cell in cells_of(then, phase) for phase, arm in rests.served)


def answer_of(label: Label, broken: Iterable[Broken], then: Run, rests: Resting, decided: Decision | None) -> Answer:
    """``label`` of what is served. A rival that answers wrongly is only a rival less."""
    if any(each.outcome is Outcome.INCORRECT and is_served(each, then, rests) for each in broken):
        return Answer.WRONG
    overtaken = decided is not None and decided.ruling is Ruling.SWITCH and then.decision and decided.pick != served_pair(then.decision)
    return Answer.STALE if label in SETTLED and overtaken else ANSWERS[label]


def next_of(pin: Pin, decided: Decision) -> Next:
    because = "; ".join(dict.fromkeys(reason for _, reason in decided.because)) or wording.unset(decided.unset_because)
    if decided.ruling is Ruling.INCOMPLETE:
        return Next(Action.NONE, (), because)
    if dict(decided.flags) == dict(pin.flags):
        return Next(Action.KEEP, decided.flags, because)
    return Next(Action.SWITCH if decided.flags else Action.UNSET, decided.flags, because)


def after(answer: Answer, pin: Pin, decided: Decision | None, only: str | None) -> Next | None:
    """What today's rounds would pin. Where they say that it got slower and saw ``only`` that backend, they speak for nothing."""
    coming = None if decided is None else next_of(pin, decided)
    if coming and coming.action is Action.KEEP and answer in GRAVE and only:
        why = f"no alternative to {only} was measured: that it stays is no finding of this check, its ways out are below"
        return replace(coming, action=Action.NONE, flags=(), because=why, alone=True)
    return coming
