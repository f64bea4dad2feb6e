"""How fast the log shows decode to be against before, and what part of it attention is. Pure.

A time a token is requests / throughput of a decode line: the engine counts tokens between two of its lines, prefills between included.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from backends.cell import Cell
from reports import load_words, numbers
from store.serving.triaged import Cause, Ground, Kind, Pace, Proof
from tuner.triaging.cause import cause
from tuner.triaging.signs import Signs

SLOWER = 1.1  # medians of lines of a server in use scatter by some percent
WORST_KNOWN = 25.0  # times: FlashInfer 0.6.1 on one long request, in docs/after-an-upgrade.md
BELIEVED = 2 * WORST_KNOWN
PROFILE = "profile a few steps of the server, and state what each part of one takes: attnpin triage {pin} --log LOG --figures FILE"


def proofs(signs: Signs) -> Iterator[Proof]:
    """For a cause that would make decode slow: whether the log shows that, and how slow attention would have to be."""
    pace = signs.load.pace if signs.load else None
    if pace is None or signs.load is None:
        return
    yield Proof(words(pace), signs.load.last)
    if pace.ratio > SLOWER and (needed := needed_factor(signs, pace)) is not None:
        share = pinned_share(signs, pace.before_ms)
        part = f", {numbers.percent(share)} of a token then by the pin's times" if share is not None else ""
        yield Proof(f"if that is attention alone{part}, it takes {numbers.significant(needed, 3)} times as long as when it was pinned")


def words(pace: Pace) -> str:
    verb = "slower" if pace.ratio > SLOWER else "faster" if pace.ratio < 1 / SLOWER else "as fast as before"
    return f"decode is {verb}: {load_words.pace(pace)}"


def small_share(signs: Signs) -> Iterator[Cause]:
    """Where decode lost more than attention, at its pinned times, can be believed to have cost."""
    pace = signs.load.pace if signs.load else None
    if pace is None or signs.load is None or pace.ratio <= SLOWER:
        return
    needed, share = needed_factor(signs, pace), pinned_share(signs, pace.before_ms)
    if needed is None or share is None or needed <= BELIEVED:
        return
    sentence = (
        f"attention was {numbers.percent(share)} of a token, by the pin's times: to lose what the log shows it would have to take "
        f"{numbers.significant(needed, 3)} times as long, and the worst release known took {WORST_KNOWN:.0f}"
    )
    yield cause(Kind.SMALL_SHARE, Ground.SEEN, sentence, [Proof(words(pace), signs.load.last)], [PROFILE.format(pin=signs.named)])


def slower(signs: Signs, still: Proof | None) -> Iterator[Cause]:
    """That decode lost time, where nothing surer says to what. ``still``: attention itself did not."""
    pace = signs.load.pace if signs.load else None
    if pace is None or pace.ratio <= SLOWER:
        return
    if still is not None:
        sentence = f"{words(pace)}, and attention is as fast as it was"
        yield cause(Kind.OTHER_PART, Ground.MOVED, sentence, [still, *proofs(signs)], [PROFILE.format(pin=signs.named)])
    else:
        yield cause(
            Kind.UNEXPLAINED,
            Ground.MOVED,
            words(pace),
            proofs(signs),
            [f"measure attention: {signs.check}", PROFILE.format(pin=signs.named)],
        )


def needed_factor(signs: Signs, pace: Pace) -> float | None:
    attention = attention_ms(signs)
    return None if attention is None else 1 + (pace.now_ms - pace.before_ms) / attention


def pinned_share(signs: Signs, token_ms: float) -> float | None:
    """Of a time a token; None where it would be more than all of it: then the cell is not what ran."""
    attention = attention_ms(signs)
    return None if attention is None or attention > token_ms else attention / token_ms


def attention_ms(signs: Signs) -> float | None:
    """A decode step's on the pin's cell nearest to the load in the keys that a batch reads, scaled to those; None where the two are too
    far apart, or nothing was measured there."""
    load, decision = signs.load, signs.run.decision
    if load is None or load.tokens_per_request is None or decision is None or not signs.decode_cells:
        return None
    keys = load.batch * load.tokens_per_request
    cell = min(signs.decode_cells, key=lambda each: abs(_keys(each) - keys))
    pair = decision.pick or decision.default
    us = next((each.median_us for each in decision.cells if pair and each.arm == pair.decode and each.cell == cell.name), None)
    layers = next(each.layers for each in signs.run.cells if each.cell.name == cell.name)
    scale = keys / _keys(cell)
    return None if us is None or not 0.25 <= scale <= 4 else us * layers * scale / 1000


def _keys(cell: Cell) -> float:
    return cell.batch * fmean(cell.context_lens)
