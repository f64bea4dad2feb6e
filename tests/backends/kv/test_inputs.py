from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from backends.kv.inputs import lay_out
from backends.kv.layout import request_pages
from tests.backends.small import decode, laid_out, prefill


def test_the_page_table_lists_every_tokens_slot_and_row_0_is_padding() -> None:
    cell = decode(7, 40, 3, generated=2)
    data = laid_out(cell, page_size=4)
    pages = request_pages(cell, 4, data.pool.pool_tokens // 4)
    assert data.req_to_token.dtype == torch.int32 and not data.req_to_token[0].any()
    for request, context in enumerate(cell.context_lens):
        slots = [pages[request][token // 4] * 4 + token % 4 for token in range(context)]
        assert data.req_to_token[request + 1, :context].tolist() == slots
        assert not data.req_to_token[request + 1, context:].any()


def test_new_tokens_are_written_where_the_table_says() -> None:
    data = laid_out(prefill((5, 3), (0, 4)), page_size=2)
    wanted = [*data.req_to_token[1, 5:8].tolist(), *data.req_to_token[2, :4].tolist()]
    assert data.out_cache_loc.tolist() == wanted
    assert (data.seq_lens.tolist(), data.prefix_lens.tolist(), data.new_lens.tolist()) == ([8, 4], [5, 0], [3, 4])


def test_values_come_from_the_cells_seed_in_its_dtype() -> None:
    cell = decode(5, 6, dtype="bfloat16")
    data = laid_out(cell)
    again = lay_out(cell, data.pool, 64)
    other = lay_out(replace(cell, seed=9), data.pool, 64)
    assert data.q.dtype == torch.bfloat16 and data.q.shape == (2, 8, 64) and data.k_new.shape == (2, 2, 64)
    assert torch.equal(data.q, again.q) and not torch.equal(data.q, other.q)


def test_a_context_longer_than_the_servers_is_refused() -> None:
    data = laid_out(decode(5))
    with pytest.raises(ValueError, match="context of 30 tokens, the server allows 20"):
        lay_out(decode(30), data.pool, 20)


def test_a_step_and_a_pool_of_the_same_seed_share_no_keys() -> None:
    data = laid_out(replace(decode(50), seed=3))  # the pool's seed is 3 too
    scores = torch.einsum("khd,hd->kh", data.pool.k[0], data.k_new[0]) / 64
    assert float(scores.abs().max()) < 0.8
