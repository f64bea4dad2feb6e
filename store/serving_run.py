"""A real server measured with a pin and without it: what each start served, how fast it answered, and what that says of the pin."""

from __future__ import annotations

from dataclasses import dataclass

from store.comparison import Label
from store.decision import Interval

PRIMARY = "itl_ms"  # of `Level`: what a verdict rests on


@dataclass(frozen=True)
class Sent:
    """The traffic, the same for every start: at each of ``concurrency`` (requests at once) so many ``requests``, whose lengths are drawn
    evenly around the means in tokens. ``benchmark`` is the engine's own program that sent it."""

    benchmark: str
    concurrency: tuple[int, ...]
    requests: tuple[int, ...]
    prompt_tokens: int
    output_tokens: int
    seed: int


@dataclass(frozen=True)
class Level:
    """What one start answered at one concurrency; times are over requests (TTFT) or tokens (ITL). None = the benchmark does not say."""

    concurrency: int
    itl_ms: float | None
    itl_p99_ms: float | None
    ttft_ms: float | None
    ttft_p99_ms: float | None
    output_tokens_per_s: float | None


@dataclass(frozen=True)
class ServedStart:
    """One start of the server. ``pinned``: with the pin's flags; ``block``: of the two starts that are compared with each other.
    ``serves``: (what, value) by its own words, as `store.verified` names them; ``fault``: why it is not what the pin says. ``settings``:
    its other arguments, which stay beside the logs and never go into evidence."""

    block: int
    pinned: bool
    ready_s: float
    serves: tuple[tuple[str, str], ...]
    fault: str | None
    graphs: bool | None
    graph_sizes: tuple[int, ...]
    pool_tokens: int | None
    version: str | None
    levels: tuple[Level, ...]
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Contrast:
    """The pin's time over the other's at one concurrency, by ``metric`` (a field of `Level`; of output tokens a second the time a token).
    ``minimum_detectable`` is a fraction."""

    concurrency: int
    metric: str
    ratio: Interval
    minimum_detectable: float
    label: Label


@dataclass(frozen=True)
class ServingRun:
    """``flags`` and ``against``: what each side was given beside the user's command. ``label`` None: the comparison is ``void``."""

    created: str
    tool_version: str
    flags: tuple[str, ...]
    against: tuple[str, ...]
    sent: Sent
    margin: float
    label: Label | None
    sentence: str
    starts: tuple[ServedStart, ...]
    contrasts: tuple[Contrast, ...]
    void: tuple[str, ...]
    notes: tuple[str, ...]
    exit_code: int

    def side(self, pinned: bool) -> tuple[ServedStart, ...]:
        return tuple(start for start in self.starts if start.pinned is pinned)
