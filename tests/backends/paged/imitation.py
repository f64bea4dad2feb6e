"""The libraries that the adapters call, in plain PyTorch: what the real kernels would read when they run is read then.

Metadata carries the lengths it was made for, so that a kernel launched on another step's shows as a wrong answer.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from tests.backends.flashinfer_calls.imitation import attend
from tests.backends.paged.signatures import held_to

Given = dict[str, Any]


def flash_attn_with_kvcache(given: Given) -> torch.Tensor:
    """FlashAttention 3: ragged queries, the last of a request over all of its keys; a latent vector in two parts."""
    q, k, v = given["q"], given["k_cache"], given["v_cache"]
    if (values := given.get("qv")) is not None:
        q, k = torch.cat([values, q], -1), torch.cat([v, k], -1)
    lengths = given["cache_seqlens"]
    assert lengths.dtype == given["page_table"].dtype == given["cu_seqlens_q"].dtype == torch.int32 and given["causal"]
    if (schedule := given.get("scheduler_metadata")) is not None:
        assert schedule.tolist() == lengths.tolist(), "the schedule is another step's"
    assert int(given["cu_seqlens_q"].diff().max()) == given["max_seqlen_q"]
    return over_pages(q, k, v, given["page_table"], lengths, given["cu_seqlens_q"], given["softmax_scale"], given["window_size"][0])


def scheduler_metadata(given: Given) -> torch.Tensor:
    assert given["batch_size"] == len(given["cache_seqlens"]) and int(given["cache_seqlens"].max()) <= given["max_seqlen_k"]
    lengths: torch.Tensor = given["cache_seqlens"].clone()
    return lengths


def vllm_varlen(given: Given) -> torch.Tensor:
    assert given["fa_version"] == 3 and isinstance(given["window_size"], list)
    same = {"k_cache": given["k"], "v_cache": given["v"], "qv": given.get("q_v"), "cache_seqlens": given["seqused_k"]}
    return flash_attn_with_kvcache({**given, **same, "page_table": given["block_table"]})


def fa4_varlen(given: Given) -> tuple[torch.Tensor, None]:
    left = given["window_size"][0]
    same = {
        "k_cache": given["k"],
        "v_cache": given["v"],
        "cache_seqlens": given["seqused_k"],
        "window_size": (-1 if left is None else left,),
    }
    assert given["return_lse"]
    return flash_attn_with_kvcache({**given, **same}), None


def xqa(given: Given) -> torch.Tensor:
    k, v = (layer.permute(0, 2, 1, 3) for layer in given["kv_cache"])  # heads first as it is given
    first = torch.arange(len(given["query"]) + 1, dtype=torch.int32)
    assert given["workspace_buffer"].dtype == torch.uint8 and given["block_tables"].shape[1] * k.shape[1] >= given["max_seq_len"]
    lengths, scale = given["seq_lens"], given["bmm1_scale"] * given["bmm2_scale"]
    return over_pages(given["query"], k, v, given["block_tables"], lengths, first, scale, given["window_left"])


def mla_metadata(given: Given) -> tuple[torch.Tensor, torch.Tensor]:
    """As many tiles as the device holds, whatever the batch, and where the splits of each request begin."""
    lengths: torch.Tensor = given["cache_seqlens"]
    assert lengths.dtype == torch.int32
    return lengths.sum().expand(4, 8).clone(), torch.cat([lengths.new_zeros(1), lengths])


def flash_mla(given: Given) -> tuple[torch.Tensor, None]:
    q, k, width, lengths = given["q"].squeeze(1), given["k_cache"], given["head_dim_v"], given["cache_seqlens"]
    tiles, splits = given["tile_scheduler_metadata"], given["num_splits"]
    assert int(tiles[0, 0]) == int(lengths.sum()) and splits[1:].tolist() == lengths.tolist(), "the metadata is another step's"
    assert lengths.dtype == torch.int32 and k.shape[1] == 64
    first = torch.arange(len(q) + 1, dtype=torch.int32)
    output = over_pages(q, k, k[..., :width], given["block_table"], lengths, first, given["softmax_scale"], -1)
    return output.unsqueeze(1), None


def over_pages(q: Any, k: Any, v: Any, table: Any, lengths: Any, first: Any, scale: float, left: int) -> torch.Tensor:
    """Each request's queries over the keys of its pages, causally and within ``left`` keys before each, -1 = all."""
    size, bounds, parts = k.shape[1], first.tolist(), []
    for row, length, begin, end in zip(table, lengths.tolist(), bounds, bounds[1:]):
        slots = (row[: -(-length // size)].long()[:, None] * size + torch.arange(size)).flatten()[:length]
        parts.append(_one(q[begin:end], k.flatten(0, 1)[slots], v.flatten(0, 1)[slots], scale, left))
    return torch.cat(parts)


def _one(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, left: int) -> torch.Tensor:
    rows = []
    for row, position in enumerate(range(len(k) - len(q), len(k))):
        oldest = 0 if left < 0 else max(0, position - left)
        rows.append(attend(q[row : row + 1], k[oldest : position + 1], v[oldest : position + 1], scale, causal=False)[0])
    return torch.cat(rows)


class LatentWrapper:
    """BatchMLAPagedAttentionWrapper: planned from the device or on the host alone; launched, it reads the slots from its buffer."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        held_to("flashinfer.mla", "BatchMLAPagedAttentionWrapper.__init__", self._open)(*arguments, **named)
        self.plan = held_to("flashinfer.mla", "BatchMLAPagedAttentionWrapper.plan", self._plan)
        self.run = held_to("flashinfer.mla", "BatchMLAPagedAttentionWrapper.run", self._run)
        self._float_workspace_buffer = self._int_workspace_buffer = self._pin_memory_int_workspace_buffer = None
        self._cached_module = SimpleNamespace(plan=self._plan_on_host)
        self._backend = "fa3"
        self.plans: list[str] = []

    def _open(self, given: Given) -> None:
        self._recorded = given.get("use_cuda_graph", False)
        self._kv_indices_buf: Any = given.get("kv_indices")

    def _plan(self, given: Given) -> None:
        assert given["page_size"] == 1 and given["kv_indices"].dtype == given["kv_len_arr"].dtype == torch.int32
        self.plans.append("whole")
        self._scale, self._bounds = given["sm_scale"], given["kv_indptr"].tolist()
        if self._recorded:
            self._kv_indices_buf[: len(given["kv_indices"])].copy_(given["kv_indices"])
        else:
            self._kv_indices_buf = given["kv_indices"]

    def _plan_on_host(self, _f: Any, _i: Any, _p: Any, first: Any, bounds: Any, lengths: Any, heads: int, width: int, causal: bool) -> None:
        assert not causal and bounds.diff().tolist() == lengths.tolist() and len(first) == len(bounds)
        self.plans.append("fast")
        self._bounds = bounds.tolist()

    def _run(self, given: Given) -> torch.Tensor:
        q, keys, values = (
            torch.cat([given["q_nope"], given["q_pe"]], -1),
            torch.cat([given["ckv_cache"], given["kpe_cache"]], -1),
            given["ckv_cache"],
        )
        for row, (begin, end) in enumerate(zip(self._bounds, self._bounds[1:])):
            slots = self._kv_indices_buf[begin:end].long()
            given["out"][row] = attend(q[row : row + 1], keys[slots], values[slots], self._scale, causal=False)[0][0]
        output: torch.Tensor = given["out"]
        return output


def _module(name: str, **imitations: Any) -> SimpleNamespace:
    return SimpleNamespace(__name__=name, **{function: held_to(name, function, imitation) for function, imitation in imitations.items()})


MODULES: dict[str, Any] = {
    name: _module(name, flash_attn_with_kvcache=flash_attn_with_kvcache, get_scheduler_metadata=scheduler_metadata)
    for name in ("sgl_kernel.flash_attn", "flash_attn_interface")
}
MODULES["vllm.vllm_flash_attn"] = _module(
    "vllm.vllm_flash_attn", flash_attn_varlen_func=vllm_varlen, get_scheduler_metadata=scheduler_metadata
)
MODULES["flash_attn.cute.interface"] = _module("flash_attn.cute.interface", flash_attn_varlen_func=fa4_varlen)
MODULES["flashinfer.decode"] = _module("flashinfer.decode", trtllm_batch_decode_with_kv_cache=xqa)
MODULES["sgl_kernel.flash_mla"] = _module("sgl_kernel.flash_mla", get_mla_metadata=mla_metadata, flash_mla_with_kvcache=flash_mla)
MODULES["flashinfer.mla"] = SimpleNamespace(BatchMLAPagedAttentionWrapper=LatentWrapper)
