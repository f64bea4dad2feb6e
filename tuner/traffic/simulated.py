"""What bounds the batches of a simulated server, and what came of requests on it."""

from __future__ import annotations

from dataclasses import dataclass

from store.plan import Server
from tuner.traffic.requests import Floats, Ints

MOST_RUNNING = 4096  # sglang/srt/model_executor: the largest table of requests that is made where nobody bounds it


@dataclass(frozen=True)
class Rules:
    """What bounds a batch. ``at_once``: callers that each wait for their answer (requests without arrival times); None = they come when
    they come. ``accepted``: tokens a decode step gives a request."""

    running: int
    chunk: int
    pool: int | None
    page_size: int
    at_once: int | None = None
    mixed: bool = False
    accepted: float = 1.0


@dataclass(frozen=True, eq=False)
class Simulated:
    """Of each request: the decode step it was first in, how many it was in, when it came, when its first and its last token was there,
    and how long it had waited to be let in. Of each piece of a prompt: its prefill step, request, prefix and new tokens. Of each prefill
    step: the decode step that comes next, or that runs in it (``mixed``), and when it ended. ``held_back``: batches beside which a
    request waited for room in the pool. Seconds count from the first arrival; in ``idle_s`` of them nobody was there."""

    joined: Ints
    steps: Ints
    asked_s: Floats
    first_s: Floats
    left_s: Floats
    waited_s: Floats
    piece_step: Ints
    piece_request: Ints
    piece_prefix: Ints
    piece_new: Ints
    decoded: Ints
    mixed: Ints
    ended_s: Floats
    held_back: Ints
    end_s: float
    idle_s: float


def rules_for(server: Server, page_size: int, at_once: int | None = None, mixed: bool = False, accepted: float = 1.0) -> Rules:
    running = server.max_running_requests or MOST_RUNNING
    return Rules(running, server.chunked_prefill_size, server.pool_tokens, page_size, at_once, mixed, accepted)
