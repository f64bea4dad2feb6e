"""Pairs of backends that no page size serves together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from backends.asked import Asking
from backends.capability import BackendEntry
from backends.cell import Phase
from backends.pages import apart
from store.plan import PairExclusion
from store.scenario import NO_DRIVER, NOT_SELECTED, Exclusion, Role, Scenario


def pairs_apart(
    scenario: Scenario, entries: Iterable[BackendEntry], exclusions: Iterable[Exclusion], ask: Asking
) -> Iterator[PairExclusion]:
    """Of the backends that may each serve their phase, whether attnpin can drive them or not."""
    if scenario.engine.role is not Role.UNIFIED:
        return
    fussy = {entry.name: entry for entry in entries if entry.capability.minds_pages}
    barred = {(one.backend, one.phase) for one in exclusions if one.backend in fussy and _for_good(one)}
    able = [entry for name, entry in fussy.items() if (name, None) not in barred]
    sides = {phase: [entry for entry in able if (entry.name, phase.value) not in barred] for phase in Phase}
    for prefill, decode in product(sides[Phase.PREFILL], sides[Phase.DECODE]):
        if prefill is not decode and (reason := apart(prefill, decode, ask)):
            yield PairExclusion(prefill.name, decode.name, reason)


def _for_good(exclusion: Exclusion) -> bool:
    """Whether the backend itself cannot serve."""
    return exclusion.reasons[0].rule not in (NO_DRIVER, NOT_SELECTED)
