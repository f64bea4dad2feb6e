"""What requests a server gets: their lengths, how many at once, how much of them its cache holds."""

from __future__ import annotations

from dataclasses import dataclass

from store.recorded_traffic import RecordedTraffic


@dataclass(frozen=True)
class Lengths:
    """A log-normal length distribution, in tokens."""

    median_tokens: int
    p95_tokens: int


@dataclass(frozen=True)
class Traffic:
    """``concurrency`` = requests running at once, ``cached_share`` = share of prompt tokens found in the prefix cache, those of
    ``shared_prefix_tokens`` among them: the first tokens of every prompt, the same in all, as a system prompt's are. ``recorded``: the
    steps that such requests were seen or simulated to make; None = they are made up from the lengths."""

    name: str
    prompt: Lengths
    output: Lengths
    concurrency: int
    cached_share: float
    source: str
    shared_prefix_tokens: int = 0
    recorded: RecordedTraffic | None = None
