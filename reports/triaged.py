"""What may be wrong with a server, for a terminal or for a program. No more of a log than quoted lines is shown."""

from __future__ import annotations

from collections.abc import Iterator

from backends.wire import to_plain
from reports import load_words, numbers
from reports.json_line import json_line
from reports.page import clean, one_line
from reports.verdict import ABSENT, BEARINGS
from reports.verified import cleaned, shortened, without_sources
from store.serving.triaged import Cause, Proof, Triaged
from store.serving.verified import Quote
from store.verdicts.verdict import Verdict

LABEL = 8
MOST_CAUSES = 4  # in full; the rest by name
LOOKED_AT = "looked at"
NOT_LOOKED = "not looked at"


def render_json(found: Triaged) -> str:
    """The record's own fields on one line, without absolute paths."""
    plain = to_plain(found)
    plain["verified"] = to_plain(without_sources(found.verified))
    return json_line(cleaned(plain))


def render_text(found: Triaged) -> str:
    """The first cause in the first line; commands as they are, since they are to be typed."""
    top, *rest = found.causes
    head = [clean(f"{top.kind.value} ({top.blame.value}): {top.sentence}"), *_below(top)]
    others = [line for number, each in enumerate(rest[: MOST_CAUSES - 1], 2) for line in _other(number, each)]
    names = ", ".join(each.kind.value for each in rest[MOST_CAUSES - 1 :])
    more = [_line("then", names)] if names else []
    looked = [_line(label, words) for label, words in _looked_at(found)]
    notes = [_note(note) for note in found.notes]
    return "\n".join([*head, *others, *more, LOOKED_AT, *looked, *notes]) + "\n"


def _looked_at(found: Triaged) -> Iterator[tuple[str, str]]:
    """What a first answer is made of, whether or not it speaks for a cause."""
    load, fast = found.load, found.fast
    yield "pin", f"{found.verified.standing.value}: {found.verified.sentence}"
    if load is not None:
        yield "graphs", load_words.outside(load)
        yield "load", f"{load_words.state(load)}; the pin is for {found.traffic}"
        token = f"{numbers.milliseconds(load.token_ms)} a token" if load.token_ms is not None else "its speed is not in the log"
        yield "decode", load_words.pace(load.pace) if load.pace else f"{token}; nothing earlier to compare with"
    yield "changed", _changed(fast) if fast else NOT_LOOKED
    if fast is not None:
        known = "; ".join(f"{BEARINGS[each.bearing]}: {each.what}" for each in fast.issues)
        yield "known", known or "no fault is on record of what changed"
    if found.screened is not None:
        yield "measured", f"{found.screened.answer.value}: {found.screened.sentence}"


def _changed(fast: Verdict) -> str:
    named = ", ".join(f"{each.what} {each.before or ABSENT} -> {each.after or ABSENT}" for each in fast.changes)
    return named or fast.sentence


def _other(number: int, each: Cause) -> Iterator[str]:
    yield clean(f"{number}. {each.kind.value} ({each.blame.value}): {each.sentence}")
    yield from _below(each)


def _below(each: Cause) -> Iterator[str]:
    yield from (line for proof in each.proofs for line in _proof(proof))
    yield from (f"  {'next':<{LABEL}} {one_line(way)}" for way in each.next)


def _proof(proof: Proof) -> Iterator[str]:
    yield _line("because", proof.words)
    if proof.said is not None:
        yield _line("line", f'{_place(proof.said)}: "{shortened(proof.said.text)}"' if proof.said.text else _place(proof.said))


def _place(quote: Quote) -> str:
    return ", ".join(part for part in (quote.where, quote.at, quote.ranks) if part)


def _note(words: str) -> str:
    return _line("note", words)


def _line(label: str, words: str) -> str:
    return f"  {label:<{LABEL}} {clean(words)}"
