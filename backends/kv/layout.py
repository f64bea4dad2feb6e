"""Which pages of the pool each request of a cell holds. Integers only; page 0 is the engine's padding page."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import count, islice

from backends.cell import Cell, PageLayout

Pages = list[list[int]]


class PoolTooSmall(ValueError):
    """The cell's requests hold more pages than the pool has."""


def request_pages(cell: Cell, page_size: int, pool_pages: int) -> Pages:
    """Page numbers of every request in token order: token ``t`` of request ``i`` lies in ``pages[i][t // page_size]``.

    Pages run from 1 to ``pool_pages``, none is held twice. Deterministic in the cell's seed.
    Raises `PoolTooSmall` when the requests need more.
    """
    needed = pages_needed(cell, page_size)
    if needed > pool_pages:
        raise PoolTooSmall(f"cell {cell.name} needs {needed} pages of {page_size} tokens, the pool has {pool_pages}; lower the batch")
    return _LAYOUTS[cell.page_layout](cell, page_size, pool_pages)


def pages_needed(cell: Cell, page_size: int) -> int:
    """Pages all requests hold together, the new tokens' included."""
    return sum(_page_count(context, page_size) for context in cell.context_lens)


def _served(cell: Cell, page_size: int, pool_pages: int) -> Pages:
    """As the engine's allocator hands pages out: a prompt gets one run, then every step one token a request.

    Played in time: a request joins as many steps ago as it has generated tokens, takes its prompt's run from the free
    list, and from then on a page at each step whose token does not fit its last one, in batch order. Requests of one age
    and page size 1 thus hold ``base + step * batch + i``.
    Source: sglang/srt/mem_cache/allocator (free pages in ascending order, alloc_extend, alloc_decode), 0.5.16 to 0.5.22.
    """
    prompts = [min(prompt, context) for prompt, context in zip(cell.prompt_lens, cell.context_lens)]
    ages = [context - prompt for prompt, context in zip(prompts, cell.context_lens)]
    free = count(1)
    pages: Pages = [[] for _ in prompts]
    for steps_ago in range(max(ages), -1, -1):
        for request, age in enumerate(ages):
            if age == steps_ago:
                pages[request] += islice(free, _page_count(prompts[request], page_size))
        for request in _growing(ages, steps_ago):
            token = prompts[request] + ages[request] - steps_ago
            if token % page_size == 0:
                pages[request].append(next(free))
    return pages


def _growing(ages: list[int], steps_ago: int) -> Iterator[int]:
    """Requests that generate a token in the step after which ``steps_ago - 1`` more followed."""
    return (request for request, age in enumerate(ages) if age >= steps_ago > 0)


def _random(cell: Cell, page_size: int, pool_pages: int) -> Pages:
    drawn = iter(random.Random(cell.seed).sample(range(1, pool_pages + 1), pages_needed(cell, page_size)))
    return [list(islice(drawn, _page_count(context, page_size))) for context in cell.context_lens]


def _contiguous(cell: Cell, page_size: int, pool_pages: int) -> Pages:
    free = count(1)
    return [list(islice(free, _page_count(context, page_size))) for context in cell.context_lens]


def _page_count(tokens: int, page_size: int) -> int:
    return -(-tokens // page_size)


_LAYOUTS: dict[PageLayout, Callable[[Cell, int, int], Pages]] = {
    PageLayout.SERVED: _served,
    PageLayout.RANDOM: _random,
    PageLayout.CONTIGUOUS: _contiguous,
}
