from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.cell import Cell, Phase, attention_flops, visible_keys
from backends.drafting import Drafting, chain, depths, require_tree, sees
from tests.backends.small import LAYER, decode, prefill

drafts = st.builds(Drafting, st.just("EAGLE"), st.integers(1, 10), st.integers(1, 8), st.integers(2, 64))


def verify(draft: tuple[int, ...], *prefixes: int) -> Cell:
    contexts = tuple(prefix + len(draft) for prefix in prefixes)
    new = (len(draft),) * len(prefixes)
    return Cell("verify", Phase.PREFILL, LAYER, contexts, new, contexts, len(prefixes), "float32", 1, draft=draft)


@given(drafts)
def test_a_draft_is_a_tree_of_its_tokens_on_the_context(drafting: Drafting) -> None:
    tree = drafting.tree
    require_tree(tree)
    assert len(tree) == drafting.tokens
    assert tree == chain(drafting.tokens) or drafting.topk > 1


@given(drafts)
def test_a_drafted_token_sees_itself_and_what_it_follows(drafting: Drafting) -> None:
    tree = drafting.tree
    for token, row in enumerate(sees(tree)):
        path = {token}
        while (parent := tree[min(path)]) >= 0:
            path.add(parent)
        assert {other for other, seen in enumerate(row) if seen} == path
        assert depths(tree)[token] == len(path) - 1


def test_the_likeliest_path_is_whole_and_its_rivals_stand_beside_it() -> None:
    assert Drafting("EAGLE", 4, 5, 8).tree == (-1, 0, 1, 2, 3, 4, 0, 1)
    assert depths(Drafting("EAGLE", 4, 5, 8).tree) == (0, 1, 2, 3, 4, 5, 1, 2)


@pytest.mark.parametrize("draft", [(0,), (-1, 1), (-1, 0, 3), (-1, -1)])
def test_a_draft_that_is_no_tree_is_refused(draft: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="each token follows one before it"):
        verify(draft, 10)


def test_a_verify_step_has_its_drafts_tokens_in_each_request_and_may_be_served_on_either_side() -> None:
    cell = verify(chain(4), 10, 20)
    assert cell.verifies and cell.generates and not cell.mixed and cell.padded_tokens == 8
    assert replace(cell, phase=Phase.DECODE, padded_batch=5).padded_tokens == 20
    with pytest.raises(ValueError, match="the 4 tokens of its draft"):
        replace(cell, new_lens=(4, 3))


def test_requests_that_decode_beside_prompts_make_a_step_mixed_and_no_step_that_generates() -> None:
    plain = prefill((10, 20), (0, 5))
    mixed = replace(plain, context_lens=(30, 5, 41), new_lens=(20, 5, 1), prompt_lens=(30, 5, 40), padded_batch=3)
    assert (plain.mixed, mixed.mixed, mixed.generates, decode(7, 9, generated=3).mixed) == (False, True, False, False)


def test_products_are_counted_for_what_a_draft_lets_each_token_see() -> None:
    pair = 2 * LAYER.query_heads * (LAYER.head_dim + LAYER.value_head_dim)
    assert attention_flops(verify(chain(4), 10)) == pair * (11 + 12 + 13 + 14)
    assert attention_flops(verify((-1, 0, 0, 0), 10)) == pair * (11 + 12 + 12 + 12)
    assert visible_keys(verify((-1, 0, 0, 0), 10)) == 14
