"""What was exchanged between two stores, in a few lines or as data."""

from __future__ import annotations

from collections.abc import Iterator

from reports import wording
from reports.json_line import json_line
from reports.page import one_line
from store.exchange.items import Exchanged, Kind, Took

FOREIGN = "what was added is foreign: shown by history, report and plan, and nothing is pinned by it; --trust says that you vouch for it"
PLURALS = {Kind.MACHINE_CODE: "pieces of machine code"}


def render_text(found: Exchanged) -> str:
    head = one_line(f"{found.source} -> {found.target}")
    return "\n".join([head, *(f"  {line}" for line in _lines(found) or ["nothing"])]) + "\n"


def render_json(found: Exchanged) -> str:
    counts = [{"kind": kind.value, "became": took and took.value, "count": count} for kind, took, count in found.counts]
    return json_line({"source": found.source, "target": found.target, "trusted": found.trusted, "counts": counts})


def _lines(found: Exchanged) -> Iterator[str]:
    for kind, took, count in found.counts:
        noun = wording.count(count, kind.value, PLURALS.get(kind))
        yield noun if took is None else f"{noun} {took.value}"
    if not found.trusted and any(took in (Took.ADDED, Took.EXTENDED, Took.BESIDE) for _, took, _ in found.counts):
        yield FOREIGN
