from __future__ import annotations

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from backends.checks.reference import attention, expect, keys_and_values, visible
from backends.model import LayerKind
from tests.backends.faulty import PlainCall
from tests.backends.small import LAYER, WINDOWED, decode, laid_out, prefill


def masked_sdpa(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, seen: torch.Tensor, layer: LayerKind) -> torch.Tensor:
    heads = (tensor.movedim(0, 1)[None] for tensor in (q, k, v))
    return scaled_dot_product_attention(*heads, attn_mask=seen, enable_gqa=True, scale=layer.softmax_scale)[0].movedim(0, 1)


@pytest.mark.parametrize("layer", [LAYER, WINDOWED], ids=["full", "window"])
def test_it_agrees_with_pytorch_over_prefixes_groups_and_windows(layer: LayerKind) -> None:
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(rows, heads, 64, generator=generator) for rows, heads in ((5, 8), (90, 2), (90, 2)))
    positions = torch.arange(85, 90)
    plain = masked_sdpa(q, k, v, visible(positions, 90, layer.sliding_window), layer)
    torch.testing.assert_close(attention(q, k, v, positions, layer, None), plain, rtol=1e-5, atol=1e-6)


def test_a_window_counts_the_keys_a_query_sees_itself_included() -> None:
    assert visible(torch.tensor([5]), 8, 3).tolist() == [[False, False, False, True, True, True, False, False]]
    assert int(visible(torch.tensor([5]), 8, None).sum()) == 6


def test_a_soft_cap_bounds_the_scores() -> None:
    q, k, v = torch.full((1, 8, 64), 10.0), torch.zeros(2, 2, 64), torch.zeros(2, 2, 64)
    k[0], v[0] = 10.0, 1.0
    hard = attention(q, k, v, torch.tensor([1]), LAYER, None)
    soft = attention(q, k, v, torch.tensor([1]), LAYER, 1.0)
    assert float(hard.min()) > 0.999
    assert float(soft.max()) == pytest.approx(1 / (1 + 2.718281828**-1), abs=1e-4)


def test_keys_are_read_through_the_page_table() -> None:
    data = laid_out(decode(9, 20), page_size=4)
    k, v = keys_and_values(data, 1, 1, torch.float32)
    assert torch.equal(k[13], data.pool.k[1][int(data.req_to_token[2, 13])])
    assert torch.equal(v[19], data.pool.v[1][int(data.req_to_token[2, 19])])


def test_float64_and_naive_outputs_cover_at_least_64_heads_of_the_shortest_and_the_longest_request() -> None:
    data = laid_out(prefill((0, 30), (100, 40), (20, 3), dtype="bfloat16"))
    PlainCall(data).write(0)
    expected = expect(data, 0, None)
    assert expected.exact.shape[0] * expected.exact.shape[1] >= 64
    assert {70, 72, 30, 69} <= set(expected.exact_rows.tolist())  # first and last rows of contexts 23 and 140
    assert expected.exact.dtype == torch.float64 and expected.naive.dtype == torch.bfloat16
    torch.testing.assert_close(expected.output[torch.isin(expected.rows, expected.exact_rows)], expected.exact.float())
