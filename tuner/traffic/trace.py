"""What a file with traffic held, and how it is to be replayed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from tuner.traffic.columns import Columns
from tuner.traffic.pace import Pace
from tuner.traffic.requests import Requests
from tuner.traffic.steps import Steps


@dataclass(frozen=True)
class How:
    """What the user says of the file. ``at_once`` callers wait for their answers where no arrivals are written, unless they come
    at ``requests_per_s``. ``cached_share`` of each prompt is in the cache where no column says."""

    columns: Columns = field(default_factory=Columns)
    tokens_per_block: int = 512
    most_requests: int = 2_000_000
    requests_per_s: float | None = None
    at_once: int = 64
    cached_share: float = 0.0
    shared: int = 0
    seed: int = 0


@dataclass(frozen=True)
class Limits:
    """Of a server that was started with others than the engine's own; None = the engine's own."""

    max_running_requests: int | None = None
    chunked_prefill_size: int | None = None
    pool_tokens: int | None = None
    mixed_chunks: bool = False
    accepted_length: float = 1.0


class Logged(Protocol):
    """Steps that a server's log tells of itself."""

    @property
    def sha256(self) -> str: ...

    def steps(self, pace: Pace) -> tuple[Steps, ...]: ...

    def prompt_lengths(self) -> tuple[float, float]: ...

    def output_length(self) -> float: ...

    def cached_share(self) -> float: ...


@dataclass
class Refused:
    """Rows that were not taken, by reason: how many, and the number of the first."""

    reasons: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, why: str, row: int) -> None:
        count, first = self.reasons.get(why, (0, row))
        self.reasons[why] = count + 1, first

    @property
    def count(self) -> int:
        return sum(count for count, _ in self.reasons.values())

    def sentences(self) -> Iterator[str]:
        for why, (count, first) in sorted(self.reasons.items(), key=lambda item: -item[1][0]):
            if count == 1:
                yield f"1 row was left out: {why} (row {first})"
            else:
                yield f"{count} rows were left out: {why} (the first is row {first})"


@dataclass(frozen=True, eq=False)
class Trace:
    """``rows`` were read, ``bad`` of them left out. ``notes`` are sentences. ``requests`` None = the file is a server's log of its steps,
    which are ``logged``. ``at_once`` as in `How`, None = the arrivals are known."""

    layout: str
    rows: int
    bad: int
    notes: tuple[str, ...]
    requests: Requests | None
    at_once: int | None = None
    logged: Logged | None = None
    limits: Limits = field(default_factory=Limits)
