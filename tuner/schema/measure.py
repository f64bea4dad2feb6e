"""How long and how often is measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from tuner.schema import MISSING

PageLayout = Enum("PageLayout", ["served", "random", "contiguous"])
Condition = Enum("Condition", ["sandwich", "random_pages"])


@dataclass
class TimingNode:
    blocks: int = MISSING
    replays: int = MISSING
    replay_ms: float = MISSING
    discard_ms: float = MISSING
    warmup_s: float = MISSING
    warmup_cap_s: float = MISSING


@dataclass
class MeasureNode:
    profile: str = MISSING
    processes: int = MISSING
    memory_fraction: float = MISSING
    backends: list[str] = field(default_factory=list)
    seed: int = 0
    budget_s: float | None = None
    import_ahead: bool = False
    page_layout: PageLayout = PageLayout.served
    sensitivity: list[Condition] = field(default_factory=list)
    variants: list[dict[str, str]] = field(default_factory=list)
    anchors: bool = False
    rest: bool = False
    timing: TimingNode = field(default_factory=TimingNode)
