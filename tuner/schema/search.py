"""Which settings of the knobs are tried."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

SearchKind = Enum("SearchKind", ["none", "exhaustive", "optuna"])


@dataclass
class SearchNode:
    kind: SearchKind = SearchKind.none
    trials: int = 32
    steps: int = 8
    finalists: int = 2
    p_threshold: float = 0.1
    knobs: list[str] = field(default_factory=list)
