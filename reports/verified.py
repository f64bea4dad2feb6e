"""What a running server was found to serve, for a terminal or for a program. No line of it holds more of a log than is quoted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from backends.wire import to_plain
from reports import numbers, wording
from reports.json_line import json_line
from reports.page import clean
from store.serving.verified import Difference, Graphs, Quote, Server, Verified

LABEL = 12
BOTH = "both phases"
MOST_QUOTED = 240  # characters
MOST_SIZES = 12


def render_json(found: Verified) -> str:
    """The record's own fields on one line, without absolute paths."""
    return json_line(cleaned(to_plain(without_sources(found))))


def render_text(found: Verified) -> str:
    flags = wording.flags(found.flags) or "no flag"
    head = [f"{found.standing.value}: {clean(found.sentence)}", _line("pin", f"{wording.engine(found.engine)}, {flags}")]
    many = len(found.servers) > 1
    servers = [line for number, each in enumerate(found.servers, 1) for line in _server(each, f"server {number}" if many else None)]
    return "\n".join([*head, *servers, *(_line("note", note) for note in found.notes)]) + "\n"


def _server(each: Server, name: str | None) -> Iterator[str]:
    start = each.start
    if name:
        yield _line(name, f"{each.standing.value}{_place(start.began)}")
    elif start.began is not None:
        yield _line("read in", f"{start.began.where}{_time(start.began)}{_starts(each.starts)}")
    differ = {difference.what for difference in each.differences}
    yield from _together((what, f"{found.value} ({found.why})") for what, found in start.settings if what not in differ)
    if start.graphs.on is not None or start.graphs.steps:
        yield _line("graphs", _graphs(start.graphs))
    for lines in _alike(each.differences):
        yield from lines
    yield from (_line("missing", missing) for missing in each.missing)
    yield from (_line("note", note) for note in start.notes)


def _together(lines: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Both phases on one line where the same is said of them."""
    by_words: dict[str, list[str]] = {}
    for what, words in lines:
        by_words.setdefault(words, []).append(what)
    return (_line(", ".join(whats) if len(whats) == 1 else BOTH, words) for words, whats in by_words.items())


def _alike(differences: Iterable[Difference]) -> Iterator[list[str]]:
    by_words: dict[tuple[str, ...], list[str]] = {}
    for each in differences:
        by_words.setdefault((_difference(each), *_causes(each)), []).append(each.what)
    for words, whats in by_words.items():
        yield [_line("differs", f"{whats[0] if len(whats) == 1 else BOTH}: {words[0]}"), *words[1:]]


def _difference(each: Difference) -> str:
    since = f", since {each.since.where}{_time(each.since)}" if each.since else ""
    return f"{each.found} instead of {each.pinned}{since}{', as pinned before' if each.before else ''}"


def _causes(each: Difference) -> Iterator[str]:
    yield _line("cause", each.cause)
    if each.said is not None:
        yield _line("it says", f'"{shortened(each.said.text)}" ({each.said.where}{_time(each.said)}{_ranks(each.said)})')


def _graphs(graphs: Graphs) -> str:
    """ "decode replays CUDA graphs, captured for 4 batch sizes: 1 2 4 8 (...); 3 of 120 decode lines (2.5 %) say that ..."."""
    replays = {
        True: "decode replays CUDA graphs",
        False: "decode replays no CUDA graph",
        None: "whether decode replays CUDA graphs is not said",
    }
    told = f" ({graphs.why})" if graphs.on is not None else ""
    return f"{replays[graphs.on]}{_sizes(graphs)}{told}{_outside(graphs)}"


def _sizes(graphs: Graphs) -> str:
    if not graphs.sizes:
        return ""
    listed = " ".join(map(str, graphs.sizes)) if len(graphs.sizes) <= MOST_SIZES else f"up to {max(graphs.sizes)}"
    asked = "by its arguments" if graphs.sizes_by_arguments else "captured"
    return f", {asked} for {wording.count(len(graphs.sizes), 'batch size')}: {listed}"


def _outside(graphs: Graphs) -> str:
    if not graphs.steps:
        return ""
    share = numbers.percent(graphs.outside / graphs.steps)
    return f"; {graphs.outside} of {wording.count(graphs.steps, 'decode line')} ({share}) say that no graph was replayed"


def _place(quote: Quote | None) -> str:
    return f", read in {quote.where}{_time(quote)}" if quote else ""


def _time(quote: Quote) -> str:
    return f", {quote.at}" if quote.at else ""


def _ranks(quote: Quote) -> str:
    return f", {quote.ranks}" if quote.ranks else ""


def _starts(count: int) -> str:
    return f", the newest of {count} starts" if count > 1 else ""


def _line(label: str, words: str) -> str:
    return f"  {label:<{LABEL}} {clean(words)}"


def shortened(text: str) -> str:
    return text if len(text) <= MOST_QUOTED else f"{text[:MOST_QUOTED]}..."


def without_sources(found: Verified) -> Verified:
    """Without what only told servers apart: it may name a host."""
    servers = tuple(replace(each, start=replace(each.start, source=f"server {n}")) for n, each in enumerate(found.servers, 1))
    return replace(found, servers=servers)


def cleaned(plain: Any) -> Any:
    if isinstance(plain, str):
        return shortened(clean(plain))
    if isinstance(plain, list):
        return [cleaned(each) for each in plain]
    return {key: cleaned(each) for key, each in plain.items()} if isinstance(plain, dict) else plain
