"""Causes in figures of everything but attention: other parts of a step, the whole server, how much ran. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports import wording
from store.serving.triaged import Cause, Ground, Kind, Proof
from tuner.triaging.cause import cause
from tuner.triaging.figure_words import words, worst
from tuner.triaging.figures import ATTENTION, WHOLE, Figure
from tuner.triaging.signs import Signs
from tuner.triaging.stated import cleared, slower_rows


def causes(signs: Signs) -> Iterator[Cause]:
    if signs.figures and signs.figures.of_two_boards and signs.figures.boards:
        then, now = signs.figures.boards
        sentence = f"the figures of then are of another board or host ({then}) than those of now ({now}): they say nothing of each other"
        yield cause(Kind.OTHER_BOARD, Ground.MEASURED, sentence, (), [f"measure both on one host: {signs.check}"])
    if not slower_rows(signs):
        yield from _elsewhere(signs)
    yield from _light_load(signs)


def _elsewhere(signs: Signs) -> Iterator[Cause]:
    """Parts other than attention, or the whole server where attention stands still."""
    moved = signs.figures.moved if signs.figures else ()
    parts = [each for each in signs.stated if each.component not in (ATTENTION, WHOLE) and each.slower]
    whole, still = [each for each in signs.stated if each.component == WHOLE], cleared(signs)
    lost = [each for each in whole if each.slower]
    proofs = [*map(Proof, map(words, (*parts, *whole))), *([still] if still else []), *(Proof(f"moved beside: {each}") for each in moved)]
    if parts or (lost and still):
        hold = f"hold what else moved ({', '.join(moved)}) and look again" if moved else "see what else moved"
        name = ", ".join(dict.fromkeys(each.component for each in parts)) or "something other than attention"
        sentence = f"not attention: {name} became slower{' and attention did not' if still else ''}"
        yield cause(Kind.OTHER_PART, Ground.MEASURED, sentence, proofs, [f"{hold}: {signs.check} --fast"])
    elif lost:
        sentence = f"the server is slower and no figure of attention is there: {worst(lost)}{_over(lost)}"
        profile = "state what attention takes too, from a profile of a few steps"
        yield cause(Kind.UNEXPLAINED, Ground.MOVED, sentence, proofs, [profile, signs.check])
    elif whole and all(each.still and each.change for each in whole):
        sentence = f"a change inside the noise of what measures it: {words(whole[0])}"
        yield cause(Kind.UNKNOWN, Ground.NOTHING, sentence, proofs, [f"measure with fresh processes: {signs.check}"])


def _over(lost: Sequence[Figure]) -> str:
    """Whether the loss grows with what runs at once."""
    by = sorted((each.at_once, each.change or 0.0) for each in lost if each.at_once is not None)
    return f"; the loss grows with concurrency ({by[0][0]} to {by[-1][0]})" if len(by) > 1 and by[-1][1] > by[0][1] else ""


def _light_load(signs: Signs) -> Iterator[Cause]:
    """Figures that show nothing, of far fewer requests at once than the pin is for."""
    at_once, most = [each.at_once for each in signs.stated if each.at_once is not None], signs.run.scenario.traffic.concurrency
    if at_once and all(each.still for each in signs.stated) and max(at_once) < most / 2:
        sentence = f"the figures show nothing, at {wording.count(max(at_once), 'request')} at once; the pin's traffic has {most}"
        proofs = [Proof(words(each)) for each in signs.stated]
        yield cause(Kind.TRAFFIC, Ground.MEASURED, sentence, proofs, [f"measure under load: {signs.check}"])
