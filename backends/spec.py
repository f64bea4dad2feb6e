"""What a worker is told: the stage its arms stand on, and how to time them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from backends.drafting import Drafting
from backends.model import Model
from backends.simulated.world import World


@dataclass(frozen=True)
class StageSpec:
    """The server the arms would run in. ``device`` "cuda" or "cpu"; ``model`` is whole and ``attention_tp`` ranks divide its
    heads (fewer than the engine's tensor parallelism under attention data parallelism); ``pool_tokens`` the server's KV
    capacity (None = as many as fit); ``graph_max_batch`` the largest decode batch it captures (None = all of them, 0 = none);
    ``memory_fraction`` of the free memory may be used in all, or ``budget_bytes`` where two processes stand on one device;
    ``streamed``: (cell, bytes) of weights that are read between two launches there, instead of what else may stand between.
    ``simulation`` stands for the device where there is none. ``deterministic``: the server's results do not depend on its batches.
    ``drafting``: its speculative decoding, None = it decodes token by token. ``combined``: K and V side by side in its pool, as SGLang's
    are not (`backends.paged.combined`)."""

    device: str
    model: Model
    attention_tp: int
    context_length: int
    chunked_prefill_size: int
    pool_tokens: int | None
    memory_fraction: float
    graph_max_batch: int | None = None
    simulation: World | None = None
    budget_bytes: int | None = None
    deterministic: bool = False
    streamed: tuple[tuple[str, int], ...] = ()
    drafting: Drafting | None = None
    combined: bool = False


@dataclass(frozen=True)
class TimingSpec:
    """How one trial and one visit are timed. ``blocks`` palindromes a process (two visits an arm each), ``replays``
    samples a visit, ``replay_ms`` of device time a replay, ``discard_ms`` before each visit's samples."""

    RETIRED: ClassVar[frozenset[str]] = frozenset({"build_limit_s", "trial_limit_s"})  # now `SilenceLimits`, which change no number

    blocks: int
    replays: int
    replay_ms: float
    discard_ms: float
    warmup_s: float
    warmup_cap_s: float
