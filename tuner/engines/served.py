"""From an engine's own words for what it serves with to ours."""

from __future__ import annotations

from collections.abc import Iterable

from backends.capability import BackendEntry
from store.decision import Pair
from store.scenario import Role


def served_pair(pair: Pair, role: Role) -> Pair:
    """On a server of one phase its backend stands for both: the other's never runs."""
    if role is Role.UNIFIED:
        return pair
    alone = pair.of(*role.phases)
    return Pair(alone, alone)


def named(pair: Pair, entries: Iterable[BackendEntry]) -> Pair:
    """Backends by the names of their entries, where an entry knows them by another one."""
    names = {alias: entry.name for entry in entries for alias in entry.aliases}
    return Pair(names.get(pair.prefill, pair.prefill), names.get(pair.decode, pair.decode))
