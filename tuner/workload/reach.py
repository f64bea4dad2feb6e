"""Which batches a server can ever run: a cell it cannot reach must not count."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import replace

from store.plan import Server
from store.traffic import Traffic
from tuner.workload.lengths import whole_pages
from tuner.workload.loads import Load, decode_load


def reachable(loads: Iterable[Load], server: Server, page_size: int) -> tuple[tuple[Load, ...], tuple[str, ...]]:
    """The loads that fit the server, their shares brought back to 1, and a sentence for each that does not."""
    given = tuple(loads)
    dropped = {load.name: why for load in given if (why := unreachable(load, server, page_size))}
    kept = tuple(load for load in given if load.name not in dropped)
    total = sum(load.share for load in kept)
    scaled = tuple(replace(load, share=load.share / total) for load in kept)
    return scaled, tuple(f"{name} was dropped: {why}" for name, why in dropped.items())


def unreachable(load: Load, server: Server, page_size: int) -> str | None:
    """Why the server can never run this batch; None when it can, or when its capacity is not known."""
    most = server.max_running_requests
    if most is not None and load.batch > most:
        return f"the server runs at most {most} requests at once"
    needed = load.held_tokens(page_size)
    if server.pool_tokens is not None and needed > server.pool_tokens:
        return f"its {needed} tokens exceed the {server.pool_tokens} that the KV pool is estimated to hold"
    return None


def largest_reachable(traffic: Traffic, server: Server, seed: int, page_size: int, below: int) -> Load:
    """The largest batch under ``below`` that fits, at worst a single request, with all of the tokens. Found by halving: a server may
    be asked for thousands of requests, and a larger batch needs more room."""

    def fits(batch: int) -> bool:
        return unreachable(decode_load(traffic, server, seed, batch, 1.0), server, page_size) is None

    fitting = bisect_left(range(2, below), True, key=lambda batch: not fits(batch)) + 1
    return decode_load(traffic, server, seed, fitting, 1.0)


def max_batch(pool_tokens: int, tokens_per_request: int, page_size: int) -> int:
    """How many requests of one length a pool holds."""
    return pool_tokens // whole_pages(tokens_per_request, page_size)
