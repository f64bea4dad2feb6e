"""A real server measured with a pin and without it: what each start served, how fast it answered, and what that says of the pin."""

from __future__ import annotations

from dataclasses import dataclass

from store.decision import Interval
from store.verdicts.comparison import Label

PRIMARY = "itl_ms"  # of `Level`: what a verdict rests on


@dataclass(frozen=True)
class Sent:
    """The traffic, the same for every start: at each of ``concurrency`` (requests at once) so many ``requests``, of so many tokens on
    average. ``benchmark`` is the engine's own program that sent it. ``lengths``: whose they are; "" = drawn evenly around the means.
    ``cached_share`` of the prompt tokens were sent before, for the prefix cache. ``sha256`` of all requests; ``notes`` are sentences."""

    benchmark: str
    concurrency: tuple[int, ...]
    requests: tuple[int, ...]
    prompt_tokens: int
    output_tokens: int
    seed: int
    lengths: str = ""
    cached_share: float = 0.0
    sha256: str = ""
    notes: tuple[str, ...] = ()


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
    ``serves``: (what, value) by its own words, as `store.serving.verified` names them; ``fault``: why it is not what the pin says.
    ``settings``: its other arguments, which stay beside the logs and never go into evidence."""

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
class Predicted:
    """The attention of one step that generates, over all layers, at one concurrency: what the pin's own measurements say of each side.
    ``cells``: those it comes from, the phase's batch itself or those around it. Without times ``missing`` says why."""

    concurrency: int
    pin_ms: float | None
    against_ms: float | None
    cells: tuple[str, ...] = ()
    missing: str = ""

    def __post_init__(self) -> None:
        if not (self.pin_ms is None) == (self.against_ms is None) == bool(self.missing):
            raise ValueError(f"a prediction at concurrency {self.concurrency} has both sides' times, or says why it has none")

    @property
    def change_ms(self) -> float | None:
        """Of a step, and so of the ITL, where everything else takes as long: below 0, the pin is faster."""
        return None if self.pin_ms is None or self.against_ms is None else self.pin_ms - self.against_ms


@dataclass(frozen=True)
class ServingRun:
    """``flags`` and ``against``: what each side was given beside the user's command. ``label`` None: the comparison is ``void``.
    ``predicted``: what the pin says of each concurrency, () = an early record, or none of its own."""

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
    predicted: tuple[Predicted, ...] = ()

    @property
    def question(self) -> tuple[tuple[str, ...], tuple[str, ...], Sent]:
        """What was asked, as a reader sees it."""
        return self.flags, self.against, self.sent

    def side(self, pinned: bool) -> tuple[ServedStart, ...]:
        return tuple(start for start in self.starts if start.pinned is pinned)


def latest(runs: tuple[ServingRun, ...], new: ServingRun) -> tuple[ServingRun, ...]:
    """``runs`` and ``new`` in the place of the one that asked the same, or behind them."""
    if all(run.question != new.question for run in runs):
        return (*runs, new)
    return tuple(new if run.question == new.question else run for run in runs)
