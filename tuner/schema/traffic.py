"""The traffic, and the file it may be read from."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from tuner.schema import MISSING

TimeUnit = Enum("TimeUnit", ["s", "ms", "us", "ns"])


@dataclass
class LengthsNode:
    median_tokens: int = MISSING
    p95_tokens: int = MISSING


@dataclass
class ColumnsNode:
    arrival: str | None = None
    prompt: str | None = None
    output: str | None = None
    cached: str | None = None
    blocks: str | None = None


@dataclass
class TraceNode:
    columns: ColumnsNode = field(default_factory=ColumnsNode)
    time_unit: TimeUnit | None = None
    tokens_per_block: int = 512
    most_requests: int = 2_000_000
    requests_per_s: float | None = None


@dataclass
class LimitsNode:
    max_running_requests: int | None = None
    chunked_prefill_size: int | None = None
    pool_tokens: int | None = None
    mixed_chunks: bool = False
    accepted_length: float = 1.0


@dataclass
class TrafficNode:
    name: str = MISSING
    prompt: LengthsNode = field(default_factory=LengthsNode)
    output: LengthsNode = field(default_factory=LengthsNode)
    concurrency: int = MISSING
    cached_share: float = MISSING
    source: str = MISSING
    shared_prefix_tokens: int = 0
    path: str | None = None
    trace: TraceNode = field(default_factory=TraceNode)
    limits: LimitsNode = field(default_factory=LimitsNode)
