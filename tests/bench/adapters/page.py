"""docs/adapters.md: the engine's own objects beside kernel adapters, and adapters on other pools and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import geometric_mean

from backends.arm import Arm, Provider
from reports import numbers
from reports.kernel_names import short
from reports.page import Table, markdown_table
from tests.bench.adapters.sitting import AGREEING, BASE, CHANGED, GROUPS
from tests.bench.layouts.level import Levels, Place, levels_of
from tests.bench.layouts.rows import Row

ROWS = Path(__file__).with_name("rows.jsonl.zst")
CLOSE = 0.03
NOTHING = "Not measured yet.\n"
INTRODUCTION = f"""\
# Kernel adapters beside the engine's own objects

Made by `make docs` from what `python -m tests.bench.adapters measure` measured. An adapter issues the calls that SGLang issues, against
the library alone: where the engine is not installed it stands in for it, labelled `@kernel`; with
`measure.variants=[{{backend: fa3, provider: kernel}}]` `attnpin compare` measures it beside the engine's.

Both ran in the same processes, on the same pool and cells. A ratio is the adapter's time by the engine's, above 1 is slower; in brackets
the lowest and highest of the processes. Within {numbers.percent(CLOSE)} they agree. The last column holds what one of the two launches
and the other does not, with its grid.
"""
CHANGES = {
    "narrow tables": "page tables as wide as the batch's longest request, not as a whole context",
    "small pool": "a pool with room for the cell alone, not the server's",
    "K and V side by side": "K and V of a token side by side in one allocation, not in two",
}


def render(rows: Sequence[Row]) -> str:
    if not rows:
        return f"{INTRODUCTION}\n{NOTHING}"
    levels, kernels = levels_of(rows), kernels_of(rows)
    parts = [_agreement(name, rows, levels, kernels) for name in AGREEING if any(row.geometry == name for row in rows)]
    return "\n".join([INTRODUCTION, _measured_on(rows), *parts, _changes(rows, levels)])


def kernels_of(rows: Iterable[Row]) -> dict[tuple[str, str, str], tuple[str, ...]]:
    """What an arm's call launches, by group, cell and arm."""
    return {(row.geometry, row.cell.name, arm): names for row in rows for arm, names in row.kernels}


def _measured_on(rows: Sequence[Row]) -> str:
    versions = dict(version for row in rows for version in row.versions)
    said = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    return f"{rows[0].board}, driver {rows[0].driver}, {said}.\n"


def _agreement(name: str, rows: Sequence[Row], levels: Levels, kernels: dict[tuple[str, str, str], tuple[str, ...]]) -> str:
    header = ("backend", "cell", "engine, us", "adapter, us", "adapter / engine", "", "launched by one of them alone")
    lines = [_line(name, cell, arm, levels, kernels) for arm in _asked(name) for cell in _cells(name, rows)]
    return f"## {name}\n\n{markdown_table(Table(header, tuple(lines)))}\n"


def _asked(name: str) -> Iterator[Arm]:
    for backend, page_size in GROUPS[name].arms:
        yield Arm(backend, Provider.ENGINE, "", page_size, "")


def _cells(name: str, rows: Sequence[Row]) -> tuple[str, ...]:
    cells = {row.cell.name: row.cell for row in rows if row.geometry == name}
    return tuple(sorted(cells, key=lambda cell: (cells[cell].phase.value, cells[cell].batch)))


def _line(name: str, cell: str, arm: Arm, levels: Levels, kernels: dict[tuple[str, str, str], tuple[str, ...]]) -> tuple[str, ...]:
    engine, adapter = (_place(name, cell, replace(arm, provider=provider), levels) for provider in Provider)
    ratios = levels.ratios(adapter, engine) if adapter and engine else ()
    said = "" if not ratios else "agrees" if abs(geometric_mean(ratios) - 1) <= CLOSE else "differs"
    apart = _apart(*(kernels.get((name, cell, replace(arm, provider=provider).name), ()) for provider in Provider))
    times = (_us(levels, place) for place in (engine, adapter))
    return f"{arm.backend}, page {arm.page_size}", cell, *times, _ratio(ratios), said, apart if ratios else ""


def _place(name: str, cell: str, arm: Arm, levels: Levels) -> Place | None:
    return next((place for place in levels.ln_us if (place.geometry, place.cell, place.arm.name) == (name, cell, arm.name)), None)


def _us(levels: Levels, place: Place | None) -> str:
    us = None if place is None else levels.us(place)
    return "not measured" if us is None else numbers.microseconds(us).removesuffix(" us")


def _apart(engine: Sequence[str], adapter: Sequence[str]) -> str:
    """In words; nothing where either was not listed."""
    if not engine or not adapter:
        return ""
    mine, other = ([_named(launch) for launch in launches] for launches in (engine, adapter))
    parts = [_only("engine", mine, other), _only("adapter", other, mine)]
    return "; ".join(filter(None, parts)) or "nothing: the same kernels in the same grids"


def _named(launch: str) -> str:
    name, _, grid = launch.rpartition(" @ ")
    return f"{short(name)} {grid}"


def _only(who: str, names: Sequence[str], others: Sequence[str]) -> str:
    left = list(names)
    for name in others:
        if name in left:
            left.remove(name)
    return f"{who}: {', '.join(dict.fromkeys(left))}" if left else ""


def _changes(rows: Sequence[Row], levels: Levels) -> str:
    """Adapters against themselves in the usual pool, process by process of different groups, so that no ratio is within one process."""
    header = ("change", "backend", "cell", "usual, us", "changed, us", "changed / usual")
    lines = [line for name in CHANGED for line in _changed(name, rows, levels)]
    title = "## What pools and tables change"
    told = "\n".join(f"- *{name}*: {CHANGES[name]}" for name in CHANGED)
    note = f"Adapters alone; the usual and the changed ran in processes of their own.\n\n{told}"
    return f"{title}\n\n{note}\n\n{markdown_table(Table(header, tuple(lines)))}\n" if lines else ""


def _changed(name: str, rows: Sequence[Row], levels: Levels) -> Iterator[tuple[str, ...]]:
    mine = [place for place in levels.ln_us if place.geometry == name]
    for place in sorted(mine, key=lambda place: (place.arm.name, _cells(name, rows).index(place.cell))):
        usual = _place(BASE, place.cell, replace(place.arm, knobs=()), levels)
        before, after = None if usual is None else levels.us(usual), levels.us(place)
        if before and after:
            arm = f"{place.arm.backend}, page {place.arm.page_size}"
            times = (numbers.microseconds(us).removesuffix(" us") for us in (before, after))
            yield name, arm, place.cell, *times, numbers.ratio(after / before)


def _ratio(ratios: Sequence[float]) -> str:
    if not ratios:
        return ""
    spread = f" ({numbers.ratio(min(ratios))} to {numbers.ratio(max(ratios))})" if len(ratios) > 1 else ""
    return f"{numbers.ratio(geometric_mean(ratios))}{spread}"
