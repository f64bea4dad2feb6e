"""Calls that are right but for what kernels of SGLang round on the way, beside what the output's dtype rounds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from backends.cell import Phase
from backends.checks.attention import logits, visible
from backends.checks.reference import keys_and_values
from backends.device import dtype_of
from tests.backends.faulty import PlainCall

if TYPE_CHECKING:
    import torch

    from backends.model import LayerKind


class RoundedCall(PlainCall):
    """Weights are rounded to the cell's dtype before they are divided by their sum."""

    def _rounded(self, values: torch.Tensor) -> torch.Tensor:
        return values.to(dtype_of(self.data.cell.dtype)).float()

    def _weights_rounded(self, weights: torch.Tensor, request: int) -> torch.Tensor:
        return self._rounded(weights)

    def _live(self, request: int) -> slice:
        cell = self.data.cell
        first = sum(cell.new_lens[:request])
        return slice(first, first + cell.new_lens[request])

    def _attended(self, request: int, scores: torch.Tensor, v: torch.Tensor, layer: LayerKind) -> torch.Tensor:
        """[new tokens, query heads, width of ``v``] from ``scores`` [new tokens, kv heads, group, context]."""
        import torch

        cell, context = self.data.cell, self.data.cell.context_lens[request]
        positions = torch.arange(cell.prefix_lens[request], context)
        window = layer.sliding_window
        seen = self._sight(visible(positions, context, window), positions, self.data.pool.page_size, window)
        scores = scores.masked_fill(~seen[:, None, None], -torch.inf)
        weights = torch.exp(scores - scores.amax(-1, keepdim=True))
        summed = torch.einsum("rhgk,khd->rhgd", self._weights_rounded(weights, request), v)
        return (summed / weights.sum(-1, keepdim=True)).flatten(1, 2)


class ProjectedUp(RoundedCall):
    """Keys and values of latent heads are projected up and stored on the way (sglang's forward_mha.py, kv_b_proj)."""

    def _request(self, slot: int, request: int) -> torch.Tensor:
        import torch

        layer = self.data.cell.layer
        k, v = (self._rounded(each) for each in keys_and_values(self.data, slot, request, torch.float32))
        return self._attended(request, logits(self.data.q[self._live(request)].float(), k, layer, None), v, layer)


class ProjectedDown(RoundedCall):
    """Queries are projected down, and outputs up again, each stored on the way (sglang's forward_mla.py, w_kc and w_vc)."""

    def _request(self, slot: int, request: int) -> torch.Tensor:
        import torch

        data, kind = self.data, self.data.cell.layer
        assert data.up is not None and kind.projected_from is not None
        (width, rank), up, nope = kind.projected_from, data.up.float(), data.up.shape[1] - kind.value_head_dim
        layer = replace(kind, kv_heads=1, head_dim=width, value_head_dim=rank, projected_from=None, scale=kind.softmax_scale)
        latent = data.pool.k[slot][data.req_to_token[request + 1, : data.cell.context_lens[request]].long()].float()
        q = data.q[self._live(request)].float()
        down = self._rounded(torch.einsum("rhn,hnl->rhl", q[..., :nope], up[:, :nope]))
        scores = logits(torch.cat([down, q[..., nope:]], dim=-1), latent, layer, None)
        attended = self._rounded(self._attended(request, scores, latent[..., :rank], layer))
        return torch.einsum("rhl,hvl->rhv", attended, up[:, nope:])


class BesideNarrow(RoundedCall):
    """An 8-bit cache as Triton's kernels read it: queries and weights are rounded to it where they meet what is stored, and new keys and
    values of a prefill are not taken from it (sglang's extend_attention.py and decode_attention.py)."""

    def _stored(self, request: int) -> int:
        """How many of its keys come out of the pool."""
        cell = self.data.cell
        return cell.prefix_lens[request] if cell.phase is Phase.PREFILL else cell.context_lens[request]

    def _narrowed(self, values: torch.Tensor) -> torch.Tensor:
        return values.to(self.data.pool.k[0].dtype).float()

    def _weights_rounded(self, weights: torch.Tensor, request: int) -> torch.Tensor:
        import torch

        stored = self._stored(request)
        return torch.cat([self._narrowed(weights[..., :stored]), self._rounded(weights[..., stored:])], dim=-1)

    def _request(self, slot: int, request: int) -> torch.Tensor:
        import torch

        data, layer, stored, live = self.data, self.data.cell.layer, self._stored(request), self._live(request)
        held = keys_and_values(data, slot, request, torch.float32)
        prefix = data.cell.prefix_lens[request]
        new = (each[live][stored - prefix :].float() for each in (data.k_new, data.v_new))
        k, v = (torch.cat([each[:stored], fresh]) for each, fresh in zip(held, new))
        q = data.q[live].float()
        scores = (logits(self._narrowed(q), k[:stored], layer, None), logits(q, k[stored:], layer, None))
        return self._attended(request, torch.cat(scores, dim=-1), v, layer)


class SummedNarrowly(RoundedCall):
    """Products of a query and a key are summed in the cell's dtype, eight of a thread in turn and then those of pairs of threads (sglang's
    decode_attention.py, _fwd_kernel_stage1, 0.5.16); weights stay as they are. ``scale``: what its softmax scale is multiplied by."""

    scale = 1.0

    def _weights_rounded(self, weights: torch.Tensor, request: int) -> torch.Tensor:
        return weights

    def _request(self, slot: int, request: int) -> torch.Tensor:
        import torch

        layer, dtype = self.data.cell.layer, dtype_of(self.data.cell.dtype)
        k, v = keys_and_values(self.data, slot, request, torch.float32)
        q = self.data.q[self._live(request)].unflatten(1, (layer.kv_heads, layer.group))
        scores = summed(torch.einsum("rhgd,khd->rhgkd", q, k.to(dtype)), 8).float() * layer.softmax_scale * self.scale
        return self._attended(request, scores, v, layer)


def summed(products: torch.Tensor, in_turn: int) -> torch.Tensor:
    """Over the last dimension, of a power of two, in its own dtype."""
    threads = products.unflatten(-1, (-1, in_turn))
    sums = threads[..., 0]
    for place in range(1, in_turn):
        sums = sums + threads[..., place]
    while sums.shape[-1] > 1:
        half = sums.shape[-1] // 2
        sums = sums[..., :half] + sums[..., half:]
    return sums[..., 0]
