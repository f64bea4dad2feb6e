"""What is made of a check, from the cheapest evidence to the dearest. Pure: a record at a time, each the one before it and more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from reports import numbers, wording
from store.comparisons.side_by_side import SideBySide
from store.decision import Ruling
from store.runs.run import Run
from store.verdicts.checked import Action, Answer, Checked, Ground, Next
from store.verdicts.comparison import Label
from store.verdicts.verdict import Verdict
from store.verdicts.version_verdict import Broken, Row, VersionVerdict
from tuner.checking import answering, confirm, saying
from tuner.checking.code import glance, is_same, launched, lost, of_seats
from tuner.checking.pinned import Pinned
from tuner.checking.screen import Screen
from tuner.checking.screened import notes_of, rival_rows, served_rows
from tuner.checking.ways_out import NextCall, ways_out
from tuner.errors import OK
from tuner.racing.sieve import measured_trials
from tuner.verdicts.session import SessionNoise

SUSPICIOUS = (Answer.REGRESSED, Answer.SUSPECT)
UNSETTLED = (*SUSPICIOUS, Answer.INCONCLUSIVE)


def by_code(pinned: Pinned, fast: Verdict, now: Run) -> Checked:
    """Where all that is in question launches what it launched."""
    then, rests = pinned.then, pinned.rests
    found = of_seats(launched(then, now), then, rests.in_question)
    return Checked(
        answer=Answer.EQUIVALENT,
        sentence=saying.same_code(found),
        ground=Ground.SAME_CODE,
        fast=fast,
        scope=saying.scope(then),
        run=now.id,
        dispatches=found,
        glance=glance(then, now, of_seats(found, then, rests.at_stake) or found),
        next=_next(pinned, now),
        exit_code=OK,
    )


def by_times(pinned: Pinned, fast: Verdict, now: Run, noise: SessionNoise) -> Checked:
    then, rests = pinned.then, pinned.rests
    screen = Screen(then, now, rests, noise)
    served, broken = served_rows(screen), lost(then, now, rests)
    label, said = _of_served(screen, served, broken)
    answer = answering.answer_of(label, broken, then, rests, now.decision)
    return Checked(
        answer=answer,
        sentence=saying.overtaken(said, now.decision) if answer is Answer.STALE else said,
        ground=Ground.STORED_TIMES,
        fast=fast,
        scope=saying.scope(then),
        run=now.id,
        dispatches=of_seats(screen.launched, then, rests.in_question),
        served=served,
        rivals=rival_rows(screen),
        broken=broken,
        next=answering.after(answer, pinned.pin, now.decision, _alone(now)),
        notes=(*notes_of(screen), *_noise(noise), *_left_out(then, now)),
        exit_code=answering.exit_code(answer),
    )


def _of_served(screen: Screen, served: Sequence[Row], broken: Sequence[Broken]) -> tuple[Label, str]:
    """The label of what is served, and the sentence for it."""
    then, rests = screen.then, screen.rests
    launches = of_seats(screen.launched, then, rests.at_stake)
    changed = bool(rests.at_stake) and not (launches and all(map(is_same, launches)))
    label = answering.label_of(served, broken, then, rests, changed)
    if gone := [each for each in broken if answering.is_served(each, then, rests)]:
        return label, saying.gone(gone)
    return label, saying.of_rows(label, served, Ground.STORED_TIMES.value) if changed else saying.RIVALS_ALONE


def by_both(found: Checked, pinned: Pinned, now: Run, measured: SideBySide, verdict: VersionVerdict) -> Checked:
    """``found`` by stored times, where both versions were measured in one sitting: that counts, but a suspicion it cannot settle stays."""
    label = confirm.label_of(measured, verdict, pinned.rests)
    answer = answering.answer_of(label, found.broken, pinned.then, pinned.rests, now.decision)
    answer = Answer.SUSPECT if answer is Answer.INCONCLUSIVE and found.answer in SUSPICIOUS else answer
    said = saying.of_rows(label, confirm.served_rows(measured, verdict, pinned.rests), Ground.SIDE_BY_SIDE.value)
    return replace(
        found,
        answer=answer,
        sentence=saying.overtaken(said, now.decision) if answer is Answer.STALE else said,
        ground=Ground.SIDE_BY_SIDE,
        confirmed=verdict,
        next=answering.after(answer, pinned.pin, now.decision, _alone(now)),
        exit_code=answering.exit_code(answer),
    )


def _alone(now: Run) -> str | None:
    """The one backend that was timed; None where there were several."""
    timed = {name for name, _ in measured_trials(now.trials)}
    backends = dict.fromkeys(arm.backend for arm in now.arms if arm.name in timed)
    return next(iter(backends)) if len(backends) == 1 else None


def calls_for_both(found: Checked, pinned: Pinned) -> bool:
    """Whether stored times leave open, or should not alone say, what is served: not where an arm does not even run."""
    gone = any(answering.is_served(each, pinned.then, pinned.rests) for each in found.broken)
    return found.ground is Ground.STORED_TIMES and found.answer in UNSETTLED and not gone


def unconfirmed(found: Checked, why: str) -> Checked:
    return replace(found, unconfirmed=why, sentence=f"{found.sentence}; not measured side by side: {why}")


def may_be_written(now: Run) -> bool:
    return now.decision is not None and now.decision.ruling is not Ruling.INCOMPLETE


def with_ways_out(found: Checked, call: NextCall) -> Checked:
    return replace(found, ways_out=tuple(dict.fromkeys(ways_out(found, call))))


def _next(pinned: Pinned, now: Run) -> Next:
    if pinned.renew and now.decision:
        return answering.next_of(pinned.pin, now.decision)
    return Next(Action.KEEP, pinned.pin.flags, "nothing that decides has changed")


def _noise(noise: SessionNoise) -> Iterator[str]:
    yield f"two sittings are taken to differ by {numbers.percent(noise.sigma)} by themselves"


def _left_out(then: Run, now: Run) -> Iterator[str]:
    measured = {arm.name for arm in now.arms}
    if others := [arm.name for arm in then.arms if arm.name not in measured]:
        yield f"{wording.count(len(others), 'arm')} of the pin's evidence not measured again: {', '.join(others)}"
