"""From what was found to the answer: its word, its exit code, what to do. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from backends.outcome import Outcome
from reports import wording
from store.decision import Decision, Ruling
from store.pins.pin import Pin
from store.runs.run import Run
from store.verdicts.checked import Action, Answer, Checked, Ground, Next
from store.verdicts.comparison import Label
from store.verdicts.verdict import Bearing
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
CHOSEN = ("backend=", "measure.backends=", "measure.variants=", "engine.attention_backend=")  # what narrows a question to one backend
LONGEST = "measure=release"
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


def ways_out(
    found: Checked, pin: str, replaced: Sequence[str], question: str = "", wheels: str | None = None, made_up: bool = False
) -> Iterator[str]:
    """``replaced``: the versions of then, as name==version, which lie in the folder ``wheels`` or in an index; ``question``: overrides
    that ask what the pin answers, for a shell; ``made_up``: the pin is a simulated GPU's, which is exported to nothing."""
    answer, coming = found.answer, found.next
    if answer not in (Answer.HOLDS, Answer.EQUIVALENT, Answer.IMPROVED):
        yield from (way for issue in found.fast.issues if issue.bearing is not Bearing.RIVAL for way in issue.ways_out)
    if coming and not found.written and coming.action in (Action.SWITCH, Action.UNSET):
        what = f"pin {wording.flags(coming.flags)}" if coming.flags else "set nothing"
        yield f"{what}, by today's rounds: attnpin check --pin {pin} --write"
    if coming and coming.alone:
        yield f"measure what else can serve here: attnpin tune {_open(question)}".rstrip()
    if answer in GRAVE and replaced:
        its = " that this one replaced: its constraints are those of the old file"
        file = its if found.written else "" if made_up else f": attnpin export --pin {pin} --to constraints"
        yield f"hold {' '.join(replaced)} as the pin was measured{file}"
    if answer in (Answer.SUSPECT, Answer.INCONCLUSIVE) and replaced:
        yield from _measured_again(found, replaced, question, wheels)


def _measured_again(found: Checked, replaced: Sequence[str], question: str, wheels: str | None) -> Iterator[str]:
    """Both versions in one sitting; where they were, with more pairs, if there can be more."""
    words, what = shlex.split(question), "measure both versions in one sitting"
    if found.ground is Ground.SIDE_BY_SIDE:
        if LONGEST in words:
            return
        words, what = [*(word for word in words if not word.startswith("measure=")), LONGEST], "measure more pairs of both versions"
    folder = [] if wheels is None else ["--wheels", wheels]
    envs = ["--baseline", ",".join(replaced), "--candidate", "present"]
    yield f"{what}: {shlex.join(['attnpin', 'compare', *envs, *folder, *words])}"


def _open(question: str) -> str:
    """``question`` to every backend."""
    return shlex.join(word for word in shlex.split(question) if not word.startswith(CHOSEN))
