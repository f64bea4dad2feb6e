"""Causes in what the GPU says: `attnpin check`'s own answer for the pinned and the default arm on the worst cells. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from reports.verdict_row import interval, times
from store.serving.triaged import Cause, Ground, Kind, Proof
from store.verdicts.checked import Answer, Checked
from store.verdicts.checked import Ground as Rests
from store.verdicts.version_verdict import Row
from tuner.triaging.cause import cause
from tuner.triaging.moved import holds
from tuner.triaging.signs import Signs

STILL = (Answer.HOLDS, Answer.EQUIVALENT, Answer.IMPROVED, Answer.STALE)
KINDS = {Answer.WRONG: Kind.WRONG, Answer.REGRESSED: Kind.ATTENTION, Answer.SUSPECT: Kind.ATTENTION, Answer.STALE: Kind.OVERTAKEN}


def causes(signs: Signs) -> Iterator[Cause]:
    found = signs.screened
    if found is None or found.answer not in KINDS:
        return
    proofs = [*map(_row, found.served), *(Proof(f"{each.arm} on {each.cell}: {each.detail}") for each in found.broken)]
    sentence = f"measured now on this GPU: {found.sentence}"
    yield cause(KINDS[found.answer], Ground.MEASURED, sentence, proofs, [holds(signs), *found.ways_out])


def cleared(found: Checked | None) -> Proof | None:
    """That attention is as fast as when it was pinned, where the GPU says so."""
    if found is None or found.answer not in STILL:
        return None
    how = "launches the same machine code" if found.ground is Rests.SAME_CODE else "is as fast as when it was pinned"
    return Proof(f"measured now on this GPU, attention {how}: {found.sentence}")


def _row(row: Row) -> Proof:
    then, now = times(row)
    return Proof(f"{row.arm} on {row.cell or 'its share of the traffic'}: {now} now, {then} when it was pinned, ratio {interval(row)}")
