"""Prefill steps of a server that mixes: requests that run already decode one token each in the step that computes others' prompts.

They take their tokens off the chunk (sglang/srt/managers/schedule_policy.py, PrefillAdder), and what they make there no decode step makes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate

from store.plan import Server
from tuner.workload.lengths import whole_pages
from tuner.workload.loads import Load

LEFT = 0.1  # judgement: where prompts are many and answers short, so much of the output is still made by decode steps


def running(decode: Iterable[Load]) -> Load:
    """Who runs while prompts are computed: the batch that makes most of the output."""
    return max(decode, key=lambda load: load.share)


def room_beside(there: Load, server: Server) -> Server:
    """``server`` with the chunk that is left for prompts."""
    return replace(server, chunked_prefill_size=max(1, server.chunked_prefill_size - there.batch))


def mixed_loads(
    prefill: Sequence[Load], decode: Sequence[Load], steps: Sequence[float], server: Server, page_size: int
) -> tuple[Load, ...]:
    """All loads as they are served: of ``decode`` the steps that are left. ``steps``: of each prefill load, for 1000 output tokens."""
    there, most = running(decode), max(1, int((1 - LEFT) * 1000 / sum(steps)))
    joined = [_joined(load, there, min(most, _fitting(load, there, server, page_size))) for load in prefill]
    made = sum(often * (after.batch - before.batch) for often, after, before in zip(steps, joined, prefill, strict=True))
    left = max(LEFT, 1 - made / 1000)
    return (
        *(replace(load, steps_per_1000=1000 * load.share * left / load.batch) for load in decode),
        *(replace(load, steps_per_1000=often) for load, often in zip(joined, steps, strict=True)),
    )


def _fitting(load: Load, there: Load, server: Server, page_size: int) -> int:
    """How many of ``there`` the pool holds beside ``load``."""
    if server.pool_tokens is None:
        return there.batch
    held = accumulate((whole_pages(context, page_size) for context in there.context_lens), initial=load.held_tokens(page_size))
    return max(0, sum(tokens <= server.pool_tokens for tokens in held) - 1)


def _joined(load: Load, there: Load, count: int) -> Load:
    return replace(
        load,
        name=load.name.replace("prefill", "mixed", 1),
        context_lens=(*load.context_lens, *there.context_lens[:count]),
        new_lens=(*load.new_lens, *(1,) * count),
        prompt_lens=(*load.prompt_lens, *(min(*each) for each in _decoding(there, count))),
    )


def _decoding(there: Load, count: int) -> Iterable[tuple[int, int]]:
    """Prompt and what was there before the step: a request that decodes has made a token."""
    return zip(there.prompt_lens[:count], (context - 1 for context in there.context_lens[:count]), strict=True)
