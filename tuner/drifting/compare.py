"""SGLang's printed support matrix against the limits, cell by cell.

A cell differs where the matrix says yes and a limit refuses, or where it says no and a limit names what it takes. Where no limit speaks
of a cell there is nothing to compare.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product

from backends.asked import Asked, asking
from backends.capability import BackendEntry, Capability
from backends.cell import Phase
from backends.gpu import Gpu
from backends.judgement import judge, with_paths
from backends.limits import listed, unmet
from backends.pages import PAGE_SIZES, page_limits, taken
from backends.question import Question
from backends.reason import Reason
from store.engines.drift import Drift, Said
from tuner.drifting.matrix import COLUMNS, PLACES, Column, DocsRow, plain_question

Home = tuple[Gpu, Phase]


def differences(rows: Iterable[DocsRow], named: Mapping[str, BackendEntry], rules: str) -> Iterator[Drift]:
    """For the rows whose backend the rule set has."""
    for row in rows:
        entry = named.get(row.backend)
        if entry is not None and rules in entry.capability.versions:
            homes = list(_homes(row, entry.capability, rules))
            yield from _pages(row, entry.capability, homes, rules)
            yield from (drift for name in COLUMNS for drift in _column(row, name, entry.capability, homes, rules))


def _homes(row: DocsRow, capability: Capability, rules: str) -> Iterator[Home]:
    """Where the backend runs when nothing special is asked."""
    for gpu, phase in product(PLACES, Phase):
        if not _against(capability, plain_question(row, gpu, rules), phase):
            yield gpu, phase


def _against(capability: Capability, question: Question, phase: Phase) -> tuple[Reason, ...]:
    """What speaks against the backend at the page size that suits it best."""
    ask = asking(question)
    return min((judge(capability, ask(phase, size)).reasons for size in PAGE_SIZES), key=len)


def _column(row: DocsRow, name: str, capability: Capability, homes: Iterable[Home], rules: str) -> Iterator[Drift]:
    column, says = COLUMNS[name], getattr(row, name)
    answers = {(gpu, phase): _against(capability, column.asks(plain_question(row, gpu, rules)), phase) for gpu, phase in homes}
    refused = {home: reasons[0] for home, reasons in answers.items() if reasons}
    kept = [home for home, reasons in answers.items() if not reasons]
    code: Said | None = None
    if says and refused:
        code = _refusal(refused, bool(kept))
    elif says is False and kept:
        gpu, phase = kept[0]
        code = _acceptance(capability, column, Asked(replace(column.asks(plain_question(row, gpu, rules)), phase=phase)))
    if code is not None:
        docs = Said("yes" if says else "no", row.where)
        yield Drift(f"matrix-{row.backend}-{row.attention}-{name}", f"{column.title} of {row.backend} ({row.attention})", code, docs=docs)


def _refusal(refused: Mapping[Home, Reason], elsewhere: bool) -> Said:
    reason = next(iter(refused.values()))
    phases: dict[str, list[Phase]] = {}
    for gpu, phase in refused:
        phases.setdefault(gpu.name, []).append(phase)
    places = ", ".join(name if len(found) > 1 else f"{name} in {found[0].value}" for name, found in phases.items())
    return Said(f"not on {places}: {reason.allowed}" if elsewhere else f"no: {reason.allowed}", reason.source)


def _acceptance(capability: Capability, column: Column, asked: Asked) -> Said | None:
    """By a limit that names what it takes; where none does, nobody knows."""
    for kind in with_paths(capability, asked):
        for limit in capability.of_version[asked.question.rules][1]:
            values = kind[limit.rule] if limit.rule == column.rule and limit.allowed and unmet(limit, kind) == () else None
            if values and all(limit.takes[value] for value in values):
                return Said(f"yes: {listed(limit.rule, limit.allowed)}", limit.source)
    return None


def _pages(row: DocsRow, capability: Capability, homes: Iterable[Home], rules: str) -> Iterator[Drift]:
    """Against the sizes that limits name anywhere the backend runs."""
    named = [page_limits(capability, asking(plain_question(row, gpu, rules))(phase, PAGE_SIZES[0])) for gpu, phase in homes]
    limits = next((limits for limits in named if limits), ())
    if row.pages and limits and set(taken(limits)) != set(row.pages):
        code = Said(", ".join(map(str, taken(limits))), limits[0].source)
        docs = Said(", ".join(map(str, row.pages)), row.where)
        yield Drift(f"matrix-{row.backend}-{row.attention}-pages", f"page sizes of {row.backend} ({row.attention})", code, docs=docs)
