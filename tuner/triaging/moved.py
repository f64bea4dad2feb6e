"""Causes in what changed under the pin, by what `attnpin check --fast` or a list of packages says. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports import wording
from store.serving.triaged import Cause, Ground, Kind, Proof
from store.serving.verified import Standing
from store.verdicts.verdict import Bearing, Change, KnownIssue, Status
from tuner.triaging.cause import cause
from tuner.triaging.pace import proofs as pace_proofs
from tuner.triaging.signs import Signs
from tuner.triaging.stated import attention_slower

MOST_NAMES = 5


def causes(signs: Signs) -> Iterator[Cause]:
    fast = signs.fast
    if fast is None:
        return
    if fast.status is Status.INCOMPARABLE:
        yield cause(Kind.OTHER_BOARD, Ground.SAID, fast.sentence, _proofs(fast.changes), [f"measure here: {signs.tune()}"])
        return
    if fast.status is Status.REFUSED:
        yield cause(Kind.REFUSED, Ground.SAID, fast.sentence, _proofs(fast.changes), [f"measure again: {signs.tune()}"])
    yield from (_known(signs, issue) for issue in fast.issues if issue.bearing is not Bearing.RIVAL)
    if fast.changes and not any(issue.bearing is Bearing.SERVED for issue in fast.issues):
        yield _changed(signs, fast.changes)


def _known(signs: Signs, issue: KnownIssue) -> Cause:
    """On what the server is known to run it is as sure as the record; where attention was measured slower, by now it is measured."""
    slower = attention_slower(signs)
    served = issue.bearing is Bearing.SERVED and (bool(slower) or signs.verified.standing is not Standing.UNKNOWN)
    ground = Ground.MEASURED if served and slower else Ground.SAID if served else Ground.MOVED
    recorded = [Proof(f"recorded in {' '.join(issue.sources)}")] if issue.sources else []
    proofs = [Proof(issue.why), *recorded, *pace_proofs(signs)]
    sentence = f"{issue.what}, on what the pin serves with" if served else f"perhaps on what the pin serves with: {issue.what}"
    kind = Kind.KNOWN_BAD if served else Kind.POSSIBLY_BAD
    return cause(kind, ground, sentence, proofs, [*issue.ways_out, holds(signs)])


def _changed(signs: Signs, changes: Sequence[Change]) -> Cause:
    names = [change.what for change in changes]
    sentence = f"{wording.the_first(names, MOST_NAMES)} changed under the pin, and whether that made attention slower is not known"
    apart = [one_at_a_time(changes)] if len(changes) > 1 else []
    return cause(Kind.CHANGED, Ground.MOVED, sentence, [*_proofs(changes), *pace_proofs(signs)], [holds(signs), *apart])


def _proofs(changes: Sequence[Change]) -> list[Proof]:
    return [Proof(f"{each.what}: {each.after or 'absent'}, {each.before or 'absent'} when the pin was made") for each in changes]


def one_at_a_time(changes: Sequence[Change]) -> str:
    """Each distribution moved by itself, where several did."""
    old = ",".join(f"{each.what}=={each.before.partition(' ')[0]}" for each in changes if each.before)
    return f"move one of them at a time: attnpin compare --baseline {old} --candidate present --attribute"


def holds(signs: Signs) -> str:
    return f"measure whether the pin still holds: {signs.check}"
