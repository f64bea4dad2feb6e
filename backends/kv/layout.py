"""Which pages of the pool each request of a cell holds. Integers only; page 0 is the engine's padding page."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count, islice

from backends.cell import Cell, PageLayout

Pages = list[list[int]]


class PoolTooSmall(ValueError):
    """The cell's requests hold more pages than the pool has."""


def request_pages(cell: Cell, page_size: int, pool_pages: int) -> Pages:
    """Page numbers of every request in token order: token ``t`` of request ``i`` lies in ``pages[i][t // page_size]``.

    Pages run from 1 to ``pool_pages``; but for whole pages of the shared prefix none is held twice. Deterministic in the cell's
    seed. Raises `PoolTooSmall` when the requests need more.
    """
    needed = pages_needed(cell, page_size)
    if needed > pool_pages:
        raise PoolTooSmall(f"cell {cell.name} needs {needed} pages of {page_size} tokens, the pool has {pool_pages}; lower the batch")
    shared = _shared_pages(cell, page_size)
    free = _free(cell, needed, pool_pages)
    common = list(islice(free, max(shared)))
    own = _in_time if cell.page_layout is PageLayout.SERVED else _in_turn
    return [common[:first] + pages for first, pages in zip(shared, own(cell, page_size, shared, free))]


def pages_needed(cell: Cell, page_size: int) -> int:
    """Pages all requests hold together, the new tokens' included, shared ones counted once."""
    shared = _shared_pages(cell, page_size)
    return max(shared) + sum(_page_count(context, page_size) - first for context, first in zip(cell.context_lens, shared))


def _shared_pages(cell: Cell, page_size: int) -> list[int]:
    """Whole pages at the head of each request that others hold too."""
    return [length // page_size for length in cell.shared_lens]


def _free(cell: Cell, needed: int, pool_pages: int) -> Iterator[int]:
    if cell.page_layout is PageLayout.RANDOM:
        return iter(random.Random(cell.seed).sample(range(1, pool_pages + 1), needed))
    return count(1)


def _in_time(cell: Cell, page_size: int, shared: list[int], free: Iterator[int]) -> Pages:
    """As the engine's allocator hands pages out: a prompt gets one run, then every step one token a request.

    Played in time: a request joins as many steps ago as it has generated tokens, takes its prompt's run from the free
    list, and from then on a page at each step whose token does not fit its last one, in batch order. Requests of one age
    and page size 1 thus hold ``base + step * batch + i``. Pages of the shared prefix were there before.
    Source: sglang/srt/mem_cache/allocator (free pages in ascending order, alloc_extend, alloc_decode), 0.5.16 to 0.5.22.
    """
    prompts = [min(prompt, context) for prompt, context in zip(cell.prompt_lens, cell.context_lens)]
    ages = [context - prompt for prompt, context in zip(prompts, cell.context_lens)]
    pages: Pages = [[] for _ in prompts]
    for steps_ago in range(max(ages), -1, -1):
        for request, age in enumerate(ages):
            if age == steps_ago:
                pages[request] += islice(free, _page_count(prompts[request], page_size) - shared[request])
        for request in _growing(ages, steps_ago):
            token = prompts[request] + ages[request] - steps_ago
            if token % page_size == 0:
                pages[request].append(next(free))
    return pages


def _growing(ages: list[int], steps_ago: int) -> Iterator[int]:
    """Requests that generate a token in the step after which ``steps_ago - 1`` more followed."""
    return (request for request, age in enumerate(ages) if age >= steps_ago > 0)


def _in_turn(cell: Cell, page_size: int, shared: list[int], free: Iterator[int]) -> Pages:
    """One request after another."""
    return [list(islice(free, _page_count(context, page_size) - first)) for context, first in zip(cell.context_lens, shared)]


def _page_count(tokens: int, page_size: int) -> int:
    return -(-tokens // page_size)
