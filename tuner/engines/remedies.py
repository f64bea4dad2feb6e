"""What a user of an engine can turn where attention is not to blame."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Remedies:
    """Imperative clauses that name the engine's own options."""

    graph_sizes: str
    graphs_on: str
    pool: str
    queue: str
    prefills: str
