"""What a cause of each kind is blamed on, and in which order causes stand. The order is stated in docs/running-server.md.

First by ground: what was measured goes before what the server or the records say, that before what the log shows, that before what
merely changed. Within a ground by kind, as they stand here. Where attention itself was found as fast as before, what could only have
made attention slow goes behind everything else.
"""

from __future__ import annotations

from collections.abc import Iterable

from store.serving.triaged import Blame, Cause, Ground, Kind, Proof
from tuner.errors import OK, REGRESSED, Incomplete, WrongResults

KINDS: dict[Kind, Blame] = {
    Kind.OTHER_BOARD: Blame.OPEN,
    Kind.NOT_AS_PINNED: Blame.SERVING,
    Kind.GRAPHS_OFF: Blame.SERVING,
    Kind.OTHER_QUESTION: Blame.SERVING,
    Kind.WRONG: Blame.ATTENTION,
    Kind.REFUSED: Blame.SERVING,
    Kind.KNOWN_BAD: Blame.ATTENTION,
    Kind.LAUNCHES: Blame.SERVING,
    Kind.DISPATCH: Blame.ATTENTION,
    Kind.GRAPH_PENALTY: Blame.SERVING,
    Kind.FEW_BLOCKS: Blame.ATTENTION,
    Kind.ATTENTION: Blame.ATTENTION,
    Kind.OTHER_PART: Blame.ELSEWHERE,
    Kind.OVERTAKEN: Blame.OPEN,
    Kind.KV_POOL: Blame.ELSEWHERE,
    Kind.QUEUE: Blame.ELSEWHERE,
    Kind.GRAPHS_MISSED: Blame.SERVING,
    Kind.PREFILLS: Blame.ELSEWHERE,
    Kind.TRAFFIC: Blame.OPEN,
    Kind.SMALL_SHARE: Blame.ELSEWHERE,
    Kind.POSSIBLY_BAD: Blame.OPEN,
    Kind.CHANGED: Blame.OPEN,
    Kind.UNEXPLAINED: Blame.OPEN,
    Kind.RIVAL: Blame.ELSEWHERE,
    Kind.UNKNOWN: Blame.OPEN,
    Kind.NOTHING: Blame.ELSEWHERE,
}
CODES = {Blame.ATTENTION: REGRESSED, Blame.SERVING: REGRESSED, Blame.ELSEWHERE: OK, Blame.OPEN: Incomplete.exit_code}
OF_ATTENTION_ALONE = (Kind.KNOWN_BAD, Kind.POSSIBLY_BAD, Kind.CHANGED, Kind.OVERTAKEN)


def cause(kind: Kind, ground: Ground, sentence: str, proofs: Iterable[Proof] = (), next: Iterable[str] = ()) -> Cause:
    return Cause(kind, KINDS[kind], ground, sentence, tuple(proofs), tuple(next))


def ranked(causes: Iterable[Cause], cleared: bool) -> tuple[Cause, ...]:
    """``cleared``: attention itself was found as fast as before."""
    kinds, grounds = list(KINDS), list(Ground)

    def place(each: Cause) -> tuple[bool, int, int]:
        return cleared and each.kind in OF_ATTENTION_ALONE, grounds.index(each.ground), kinds.index(each.kind)

    return tuple(sorted(causes, key=place))


def exit_code(top: Cause) -> int:
    return WrongResults.exit_code if top.kind is Kind.WRONG else CODES[top.blame]
