from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.cell import Cell, PageLayout, Phase
from backends.kv.layout import PoolTooSmall, pages_needed, request_pages
from tests.backends.small import LAYER, decode, prefill


@st.composite
def cells(draw: st.DrawFn) -> Cell:
    lens = draw(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 60)), min_size=1, max_size=8))
    shared = draw(st.one_of(st.just(0), st.integers(0, 80)))
    contexts = tuple(prompt + generated for prompt, generated in lens)
    layout = draw(st.sampled_from(PageLayout))
    batch = len(lens)
    prompts = tuple(prompt for prompt, _ in lens)
    seed = draw(st.integers(0, 99))
    return Cell("drawn", Phase.DECODE, LAYER, contexts, (1,) * batch, prompts, batch, "float32", seed, layout, shared)


@settings(max_examples=200, deadline=None)
@given(cells(), st.sampled_from([1, 2, 16, 64]), st.integers(0, 20))
def test_every_token_of_its_own_has_a_slot_of_its_own_outside_the_padding_page_and_inside_the_pool(
    cell: Cell, page_size: int, spare: int
) -> None:
    pool_pages = pages_needed(cell, page_size) + spare
    pages = request_pages(cell, page_size, pool_pages)
    slots = [
        held[token // page_size] * page_size + token % page_size
        for held, context in zip(pages, cell.context_lens)
        for token in range(context)
    ]
    whole = [length // page_size * page_size for length in cell.shared_lens]
    assert len(set(slots)) == max(whole) + sum(context - shared for context, shared in zip(cell.context_lens, whole))
    assert min(slots) >= page_size
    assert max(slots) < (pool_pages + 1) * page_size


@settings(max_examples=100, deadline=None)
@given(cells(), st.sampled_from([1, 4, 16]))
def test_what_is_needed_is_held_and_nothing_in_vain(cell: Cell, page_size: int) -> None:
    pages = request_pages(cell, page_size, pages_needed(cell, page_size))
    assert len({page for held in pages for page in held}) == pages_needed(cell, page_size)
    assert [len(held) for held in pages] == [-(-context // page_size) for context in cell.context_lens]


def test_decode_steps_are_strided_by_the_batch_after_the_prompts_runs() -> None:
    cell = decode(7, 9, 8, generated=4)
    base = 1 + 3 + 5 + 4
    for request, held in enumerate(request_pages(cell, 1, 100)):
        prompt = cell.prompt_lens[request]
        assert held[:prompt] == list(range(held[0], held[0] + prompt))
        assert held[prompt:] == [base + step * 3 + request for step in range(4)]


def test_a_request_that_joined_later_has_its_prompt_between_the_steps_of_the_others() -> None:
    cell = replace(decode(6, 5), prompt_lens=(2, 4))
    assert request_pages(cell, 1, 20) == [[1, 2, 3, 4, 5, 10], [6, 7, 8, 9, 11]]


def test_larger_pages_are_taken_when_the_last_is_full_in_step_order() -> None:
    cell = replace(decode(9, 10), prompt_lens=(3, 4))
    # step 1 to 6: request 1 outgrows its first page at once, request 0 at its second step
    assert request_pages(cell, 4, 20) == [[1, 4, 6], [2, 3, 5]]


def test_a_chunk_of_prefill_lies_in_one_run() -> None:
    assert request_pages(prefill((4, 4), (0, 3)), 2, 20) == [[1, 2, 3, 4], [5, 6]]


def test_requests_share_whole_pages_of_their_prefix_and_write_into_none_of_them() -> None:
    cell = replace(decode(9, 7, 12, generated=2), shared_prefix=6)
    assert cell.shared_lens == (6, 5, 6)
    pages = request_pages(cell, 2, 50)
    assert [held[:2] for held in pages] == [[1, 2]] * 3  # four of the tokens, in two whole pages
    assert pages[0][2] == pages[2][2] == 3 != pages[1][2]
    assert pages_needed(cell, 2) == len({page for held in pages for page in held}) == 3 + 2 + 2 + 3
    assert len({held[-1] for held in pages}) == 3


def test_a_prefill_shares_what_was_cached_and_never_what_it_computes() -> None:
    cell = replace(prefill((8, 4), (0, 3), (4, 4)), shared_prefix=6)
    assert cell.shared_lens == (6, 0, 4)
    assert [held[0] for held in request_pages(cell, 2, 50)] == [1, 7, 1]


def test_contiguous_pages_run_on_and_random_ones_do_not() -> None:
    cell = decode(40, 50, generated=20)
    run = request_pages(replace(cell, page_layout=PageLayout.CONTIGUOUS), 1, 200)
    assert [page for held in run for page in held] == list(range(1, 91))
    drawn = [page for held in request_pages(replace(cell, page_layout=PageLayout.RANDOM), 1, 200) for page in held]
    assert drawn != sorted(drawn) and max(drawn) > 90


def test_a_pool_too_small_says_how_many_pages_are_missing() -> None:
    with pytest.raises(PoolTooSmall, match="needs 10 pages of 2 tokens, the pool has 9"):
        request_pages(decode(20), 2, 9)
