"""Stands in for a library's kernels on a CPU: attention over keys and values that a call is given, request by request."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch


class FlashInferMLAAttnBackend:
    """What the engine calls flashinfer here: of its backend only the form in which latent prefill hands over keys of whole contexts."""

    def __init__(self, runner: Any) -> None:
        self.token_to_kv_pool, self.req_to_token_pool = runner.token_to_kv_pool, runner.req_to_token_pool
        self.kv_index_translator = getattr(runner, "kv_index_translator", None)
        self.prefill_wrapper_ragged = SimpleNamespace(_backend="made up")

    def init_forward_metadata(self, batch: Any) -> None:
        self.forward_metadata = SimpleNamespace(use_ragged=True)

    def forward(self, q: Any, k: Any, v: Any, layer: Any, batch: Any, save_kv_cache: bool = True, **others: Any) -> torch.Tensor:
        assert not save_kv_cache and batch.mha_one_shot and not batch.mha_return_lse
        new, whole = batch.extend_seq_lens_cpu, batch.seq_lens_cpu.tolist()
        queries = q.view(-1, layer.tp_q_head_num, layer.qk_head_dim).split(new)
        keys, values = k.split(whole), v.view(-1, layer.tp_q_head_num, layer.v_head_dim).split(whole)
        return torch.cat([_attend(*request, layer.scaling) for request in zip(queries, keys, values)])


def _attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float) -> torch.Tensor:
    """The last queries of a context over all of it, causally; [rows, heads x dim]."""
    seen = torch.ones(len(q), len(k), dtype=torch.bool).tril(len(k) - len(q))
    heads = (tensor.movedim(0, 1)[None].float() for tensor in (q, k, v))
    output = torch.nn.functional.scaled_dot_product_attention(*heads, attn_mask=seen, scale=scale)
    return output[0].movedim(0, 1).flatten(1).to(q.dtype)
