from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from backends.checks import reference
from backends.checks.attention import attention
from backends.checks.needles import planted
from backends.checks.reference import expect, keys_and_values
from backends.latent import attended
from backends.model import LayerKind
from tests.backends.faulty import PlainCall
from tests.backends.small import decode, laid_out, prefill

LATENT = LayerKind("full", layers=2, query_heads=4, kv_heads=1, head_dim=576, value_head_dim=512)


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
