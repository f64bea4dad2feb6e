from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from backends.checks import reference
from backends.checks.needles import planted
from backends.checks.reference import attention, expect, keys_and_values, visible
from backends.latent import attended
from backends.model import LayerKind
from tests.backends.faulty import PlainCall
from tests.backends.small import LAYER, WINDOWED, decode, laid_out, prefill

LATENT = LayerKind("full", layers=2, query_heads=4, kv_heads=1, head_dim=576, value_head_dim=512)


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


def test_stored_keys_and_values_are_multiplied_by_their_scales() -> None:
    data = laid_out(decode(9))
    plain, data.pool.scales = keys_and_values(data, 0, 0, torch.float32), (0.5, 4.0)
    k, v = keys_and_values(data, 0, 0, torch.float32)
    assert torch.equal(k, plain[0] * 0.5) and torch.equal(v, plain[1] * 4.0)


def test_projected_heads_attend_as_absorbed_ones_do() -> None:
    """Queries projected down and outputs projected up once more give what projected keys and values give."""
    layer = attended(LATENT, "DeepseekV3ForCausalLM", generates=False)
    data = laid_out(prefill((20, 5), layer=layer))
    PlainCall(data).write(0)
    assert data.up is not None
    k, v = keys_and_values(data, 0, 0, torch.float32)
    down = torch.einsum("rhn,hnl->rhl", data.q[..., :128], data.up[:, :128])
    absorbed = torch.cat([down, data.q[..., 128:]], dim=-1)
    rows, scale = torch.arange(20, 25), layer.softmax_scale
    where = data.req_to_token[1, :25].long()
    latent = attention(absorbed, data.pool.k[0][where], data.pool.v[0][where], rows, replace(LATENT, scale=scale), None)
    raised = torch.einsum("rhl,hvl->rhv", latent, data.up[:, 128:])
    torch.testing.assert_close(attention(data.q, k, v, rows, layer, None), raised, rtol=1e-4, atol=1e-5)


def test_a_long_context_is_projected_a_few_heads_at_a_time_with_the_same_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = attended(LATENT, "DeepseekV3ForCausalLM", generates=False)
    data = laid_out(prefill((20, 5), (0, 9), layer=layer))
    PlainCall(data).write(0)
    whole = expect(data, 0, None)
    with planted(data, 0, None) as all_heads:
        aimed_at = data.q.clone()
    monkeypatch.setattr(reference, "PROJECTED_AT_ONCE", 3 * 25 * 256)
    assert len(reference.head_pieces(data, 0)) == 2  # of three heads and of one
    pieces = expect(data, 0, None)
    for name in ("output", "exact", "naive"):
        torch.testing.assert_close(getattr(pieces, name), getattr(whole, name))
    with planted(data, 0, None) as few_heads:
        torch.testing.assert_close(data.q, aimed_at)
    torch.testing.assert_close(few_heads.values, all_heads.values)
    assert torch.equal(few_heads.aimed, all_heads.aimed) and few_heads.kinds == all_heads.kinds


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
