from __future__ import annotations

import math

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from backends.checks.attention import attention, visible
from backends.model import LayerKind
from tests.backends.small import LAYER, WINDOWED


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


def test_a_drafted_token_sees_the_context_and_what_it_follows() -> None:
    tree = (-1, 0, 0, 2)
    assert visible(torch.tensor([3, 4, 5]), 6, None, tree)[:, 2:].int().tolist() == [[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 1, 1]]
    assert bool(visible(torch.tensor([2, 3, 4, 5]), 6, None, tree)[:, :2].all())


def test_a_chain_of_drafts_is_seen_as_any_prefill_is() -> None:
    places = torch.arange(86, 90)
    assert torch.equal(visible(places, 90, None, (-1, 0, 1, 2)), visible(places, 90, None))
    assert torch.equal(visible(places, 90, 7, (-1, 0, 1, 2)), visible(places, 90, 7))


def test_a_soft_cap_bounds_the_scores() -> None:
    q, k, v = torch.full((1, 8, 64), 10.0), torch.zeros(2, 2, 64), torch.zeros(2, 2, 64)
    k[0], v[0] = 10.0, 1.0
    hard = attention(q, k, v, torch.tensor([1]), LAYER, None)
    soft = attention(q, k, v, torch.tensor([1]), LAYER, 1.0)
    assert float(hard.min()) > 0.999
    assert float(soft.max()) == pytest.approx(1 / (1 + 2.718281828**-1), abs=1e-4)


def test_a_sink_takes_its_share_of_the_weight_and_gives_nothing() -> None:
    q, k, v = torch.zeros(1, 8, 64), torch.zeros(3, 2, 64), torch.ones(3, 2, 64)
    sinks = torch.tensor([0.0, math.log(3.0)] * 4)
    output = attention(q, k, v, torch.tensor([2]), LAYER, None, sinks)
    torch.testing.assert_close(output[0, :, 0], torch.tensor([3 / 4, 3 / 6] * 4))
