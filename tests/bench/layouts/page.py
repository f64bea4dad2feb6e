"""docs/layouts.md: what was measured, as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import geometric_mean

from backends.arm import Arm
from backends.cell import PageLayout
from reports import numbers
from reports.page import Table, markdown_table
from tests.bench.layouts.level import Levels, Place, levels_of
from tests.bench.layouts.rows import Row
from tests.bench.layouts.sitting import CHATTING, CONTEXT, GEOMETRIES, MADE, REQUESTS, SHARES, chat_with, even

INTRODUCTION = """\
# Where a request's KV lies

Made by `make docs` from what `python -m tests.bench.layouts measure` measured: microseconds of one decode call in one layer, every backend
at every page size in the same processes, pools of a server's size, through SGLang's own objects.

- *served*: pages as the engine's allocator hands them out, a prompt in one run, generated tokens strided by the batch. This is what
  `attnpin tune` measures.
- *random*: the same pages drawn from the whole pool, as after long service at the worst. `measure.page_layout=random` asks for it.
- *contiguous*: one request after the other.

A ratio is against *served* in the same process, above 1 is slower; in brackets the lowest and highest of the processes.
"""
TIE = 0.01  # `decide.tie_margin`
NOTHING = "Not measured yet.\n"


def render(rows: Sequence[Row]) -> str:
    if not rows:
        return f"{INTRODUCTION}\n{NOTHING}"
    levels = levels_of(rows)
    parts = [_measured_on(rows), *(_placed(levels, geometry) for geometry in GEOMETRIES if levels.arms(geometry)), _shared(levels, rows)]
    return "\n".join([INTRODUCTION, *parts])


def _measured_on(rows: Sequence[Row]) -> str:
    first = rows[0]
    versions = ", ".join(f"{name} {version}" for name, version in first.versions)
    return f"{first.board}, driver {first.driver}, {versions}.\n"


def _placed(levels: Levels, geometry: str) -> str:
    lengths = f"{REQUESTS} requests of {CONTEXT} tokens, {MADE} of them generated"
    header = ("page", "arm", *(layout.value for layout in PageLayout), "random / served", "contiguous / served")
    lines = [_placed_line(levels, geometry, arm) for arm in levels.arms(geometry)]
    picks = "\n".join(f"- {sentence}" for sentence in _picks(levels, geometry))
    return f"## {geometry} heads, {lengths}\n\n{markdown_table(Table(header, tuple(lines)))}\n\n{picks}\n"


def _placed_line(levels: Levels, geometry: str, arm: Arm) -> tuple[str, ...]:
    places = {layout: Place(geometry, even(layout), arm) for layout in PageLayout}
    served = places[PageLayout.SERVED]
    ratios = (_ratio(levels.ratios(places[layout], served)) for layout in (PageLayout.RANDOM, PageLayout.CONTIGUOUS))
    return (str(arm.page_size), arm.backend, *(_us(levels.us(place)) for place in places.values()), *ratios)


def _picks(levels: Levels, geometry: str) -> Iterable[str]:
    """What would be picked by this cell alone, page size by page size, and whether random pages change it."""
    for size in dict.fromkeys(arm.page_size for arm in levels.arms(geometry)):
        arms = [arm for arm in levels.arms(geometry) if arm.page_size == size]
        usual, shuffled = (_fastest(levels, geometry, layout, arms) for layout in (PageLayout.SERVED, PageLayout.RANDOM))
        if usual is None or shuffled is None:
            continue
        yield f"page {size}: {usual.backend} is the fastest as served{_when_shuffled(levels, geometry, usual, shuffled)}"


def _when_shuffled(levels: Levels, geometry: str, usual: Arm, shuffled: Arm) -> str:
    lost = levels.ratios(*(Place(geometry, even(PageLayout.RANDOM), arm) for arm in (usual, shuffled)))
    if usual == shuffled or not lost:
        return " and under random pages"
    if geometric_mean(lost) < 1 + TIE:
        return f", and within {numbers.percent(TIE)} of {shuffled.backend} under random pages"
    return f"; **layout-sensitive**: under random pages it takes {_ratio(lost)} of the time of {shuffled.backend}"


def _fastest(levels: Levels, geometry: str, layout: PageLayout, arms: Iterable[Arm]) -> Arm | None:
    timed = [(us, arm) for arm in arms if (us := levels.us(Place(geometry, even(layout), arm))) is not None]
    return min(timed, key=lambda each: each[0])[1] if timed else None


def _shared(levels: Levels, rows: Sequence[Row]) -> str:
    prefixes = {row.cell.name: row.cell.shared_prefix for row in rows}
    shares = [share for share in SHARES if chat_with(share) in prefixes]
    if not shares:
        return ""
    words = [numbers.percent(share) for share in shares]
    said = ", ".join(f"{word} (the first {prefixes[chat_with(share)]})" for word, share in zip(words, shares))
    header = ("page", "arm", *words, *(f"{word} / {words[0]}" for word in words[1:]))
    lines = [_shared_line(levels, arm, shares) for arm in levels.arms(CHATTING)]
    title = f"## {CHATTING} heads, {REQUESTS} requests of chat traffic with a shared prefix"
    text = f"So much of all prompt tokens in the batch its requests have in common: {said}. Shorter prompts lie in the prefix whole."
    return f"{title}\n\n{text}\n\n{markdown_table(Table(header, tuple(lines)))}\n"


def _shared_line(levels: Levels, arm: Arm, shares: Sequence[float]) -> tuple[str, ...]:
    places = [Place(CHATTING, chat_with(share), arm) for share in shares]
    return (
        *(str(arm.page_size), arm.backend),
        *(_us(levels.us(place)) for place in places),
        *(_ratio(levels.ratios(place, places[0])) for place in places[1:]),
    )


def _us(us: float | None) -> str:
    return "" if us is None else numbers.microseconds(us).removesuffix(" us")


def _ratio(ratios: Sequence[float]) -> str:
    """Geometric mean of the processes, with their range."""
    if not ratios:
        return ""
    spread = f" ({numbers.ratio(min(ratios))} to {numbers.ratio(max(ratios))})" if len(ratios) > 1 else ""
    return f"{numbers.ratio(geometric_mean(ratios))}{spread}"
