"""The verdict on servers from their starts. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from reports import wording
from reports.verdict import in_words
from store.serving.verified import (
    DECODE,
    GRAPHS,
    KV_DTYPE,
    PAGE_SIZE,
    PREFILL,
    Difference,
    Found,
    Graphs,
    Server,
    Standing,
    Start,
    Verified,
)
from tuner.errors import OK, REGRESSED, Incomplete
from tuner.verifying.expected import Expected

EXIT_CODES = {Standing.AS_PINNED: OK, Standing.DIFFERENT: REGRESSED, Standing.UNKNOWN: Incomplete.exit_code}
GRAVITY = (Standing.DIFFERENT, Standing.UNKNOWN, Standing.AS_PINNED)
NOT_COMPARABLE = "not comparable with a server that replays graphs"
REPLAYED, EAGER = "replayed", "not replayed"
NOT_SAID = "the KV cache's dtype was not compared: the arguments say auto, and no line of its pool is there"


def judged(starts: Sequence[Start], expected: Expected, notes: Iterable[str] = ()) -> Verified:
    """By the newest start of each server; at least one start."""
    by_source: dict[str, list[Start]] = {}
    for start in starts:
        by_source.setdefault(start.source, []).append(start)
    servers = tuple(server(each, expected) for each in by_source.values())
    standing = min((each.standing for each in servers), key=GRAVITY.index)
    return Verified(
        standing=standing,
        sentence=_sentence(standing, servers, expected),
        engine=expected.pin.engine,
        flags=expected.pin.flags,
        pinned=expected.served,
        servers=servers,
        exit_code=EXIT_CODES[standing],
        notes=(*notes, *_notes(servers, expected)),
    )


def server(starts: Sequence[Start], expected: Expected) -> Server:
    newest = starts[-1]
    missing = (newest.foreign,) if newest.foreign else (*newest.missing, *_unsaid(newest, expected))
    found = () if newest.foreign else tuple(_differences(starts, expected))
    standing = Standing.DIFFERENT if found else Standing.UNKNOWN if missing else Standing.AS_PINNED
    return Server(standing, newest, len(starts), found, tuple(dict.fromkeys(missing)))


def _unsaid(start: Start, expected: Expected) -> Iterator[str]:
    """What is needed and was not said, where no line is already named for it."""
    said = {what for what, _ in start.settings}
    lacks = [what for what in (*expected.phases, PAGE_SIZE) if what not in said]
    if lacks and not start.missing:
        yield f"nothing that it said tells {' and '.join(lacks)}"


def _differences(starts: Sequence[Start], expected: Expected) -> Iterator[Difference]:
    for what, found in differing(starts[-1], expected).items():
        same = _trailing([_value(start, expected, what) for start in starts], found.value)
        first, earlier = starts[-same], starts[:-same]
        as_pinned = any(not each.missing and what not in differing(each, expected) for each in earlier)
        yield Difference(what, pinned(expected)[what], found.value, first.began, as_pinned, found.why, found.said)


def _trailing(values: Sequence[str | None], value: str) -> int:
    """How many of the last are ``value``."""
    return len(list(takewhile(lambda each: each == value, reversed(values))))


def _value(start: Start, expected: Expected, what: str) -> str | None:
    found = differing(start, expected).get(what)
    return None if found is None else found.value


def pinned(expected: Expected) -> dict[str, str]:
    """By what is compared, in words."""
    served, graphs = expected.served, expected.graphs
    sides = {PREFILL: served.prefill, DECODE: served.decode}
    replayed = {} if graphs is None else {GRAPHS: REPLAYED if graphs else EAGER}
    rest = {PAGE_SIZE: str(served.page_size), KV_DTYPE: served.kv_cache_dtype, **(replayed if DECODE in expected.phases else {})}
    return {**{phase: sides[phase] for phase in expected.phases}, **rest}


def differing(start: Start, expected: Expected) -> dict[str, Found]:
    said = found_of(start)
    return {what: said[what] for what, value in pinned(expected).items() if what in said and not _agree(value, said[what].value)}


def found_of(start: Start) -> Mapping[str, Found]:
    graphs = start.graphs
    if graphs.on is None:
        return dict(start.settings)
    why = f"{graphs.why}: {NOT_COMPARABLE}"
    return {**dict(start.settings), GRAPHS: Found(REPLAYED if graphs.on else EAGER, why, graphs.said)}


def _agree(value: str, found: str) -> bool:
    """Of several backends (kinds of layers, a draft) the pinned one has to be among them; "auto" is whatever came of it."""
    return value == "auto" or value.lower() in found.lower().split(", ")


def _sentence(standing: Standing, servers: Sequence[Server], expected: Expected) -> str:
    if standing is Standing.AS_PINNED:
        whose = "the server runs" if len(servers) == 1 else f"{len(servers)} servers run"
        return f"{whose} {in_words(expected.served)}"
    if standing is Standing.UNKNOWN:
        return "; ".join(dict.fromkeys(missing for each in servers for missing in each.missing))
    worst = [each for each in servers if each.standing is Standing.DIFFERENT]
    of = f" ({len(worst)} of {len(servers)} servers)" if len(servers) > 1 else ""
    return "; ".join(f"{each.what} {each.found} instead of {each.pinned}" for each in worst[0].differences) + of


def _notes(servers: Sequence[Server], expected: Expected) -> Iterator[str]:
    if any(KV_DTYPE not in found_of(each.start) and not each.missing for each in servers):
        yield NOT_SAID
    if {each.start.graphs.on for each in servers} >= {True, False}:
        yield f"one server replays graphs and another does not: the second is {NOT_COMPARABLE}"
    if not expected.pin.flags:
        yield f"the pin sets no flag, so the engine's own choice is what was pinned: {wording.unset(expected.pin.unset)}"
    versions = {each.start.version for each in servers if each.start.version} - {expected.pin.valid_for.engine_version}
    if versions and expected.pin.valid_for.engine_version:
        name = wording.engine(expected.pin.engine)
        yield f"{name} {' and '.join(sorted(versions))} serves, the pin was made with {expected.pin.valid_for.engine_version}"


def nothing_said(source: str, *missing: str) -> Start:
    """A server of which nothing is known."""
    return Start(source, None, (), Graphs(None, "nothing that it said tells"), missing)
