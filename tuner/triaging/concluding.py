"""From the signs to the answer: every cause that they speak for, in order. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from reports import load_words, wording
from store.serving.triaged import Blame, Cause, Ground, Kind, Proof, Triaged
from tuner.triaging import arms, loaded, moved, pace, parts, screened, served, stated
from tuner.triaging.cause import OF_ATTENTION_ALONE, cause, exit_code, ranked
from tuner.triaging.signs import Signs

SOURCES = (served.causes, moved.causes, screened.causes, stated.causes, parts.causes, arms.causes, loaded.causes, pace.small_share)


def concluded(signs: Signs, notes: tuple[str, ...] = (), final: bool = True) -> Triaged:
    """``final`` False: another answer follows."""
    still = cleared(signs)
    causes = ranked(causes_of(signs, still), still is not None)
    return Triaged(
        sentence=causes[0].sentence,
        causes=causes,
        traffic=wording.traffic(signs.pin.valid_for),
        verified=signs.verified,
        load=signs.load,
        fast=signs.fast,
        screened=signs.screened,
        notes=(*notes, *_unmeasured(signs)),
        exit_code=exit_code(causes[0]),
        final=final,
    )


def causes_of(signs: Signs, still: Proof | None) -> list[Cause]:
    """One of a kind, the first: later ones say it again. ``still``: that attention is as fast as it was."""
    by_kind: dict[Kind, Cause] = {}
    for source in SOURCES:
        for each in source(signs):
            by_kind.setdefault(each.kind, each)
    found = list(by_kind.values())
    if not [each for each in found if not (still and each.kind in OF_ATTENTION_ALONE)]:
        found += pace.slower(signs, still)
    if not any(each.blame is Blame.ELSEWHERE for each in found):
        found.append(nothing(signs, still))
    return found


def cleared(signs: Signs) -> Proof | None:
    """That attention itself is as fast as it was, by the GPU, else by figures."""
    return screened.cleared(signs.screened) or stated.cleared(signs)


def nothing(signs: Signs, still: Proof | None) -> Cause:
    """That it is not attention, where nothing else is blamed: the last cause, and the first where there is no other."""
    said = (
        "attention is as fast as it was"
        if still
        else "neither queue, KV pool nor prefills stand out"
        if signs.load
        else "too little is known"
    )
    looked = [Proof(load_words.state(signs.load), signs.load.last)] if signs.load else []
    ways = [pace.PROFILE.format(pin=signs.named), moved.holds(signs)]
    sentence = f"as far as can be told: {said}"
    return cause(Kind.NOTHING, Ground.NOTHING, sentence, [*([still] if still else []), *looked], ways)


def _unmeasured(signs: Signs) -> Iterator[str]:
    found = signs.screened
    if found is not None and found.answer not in (*screened.KINDS, *screened.STILL):
        yield f"the GPU did not settle it: {found.answer.value}: {found.sentence}"
