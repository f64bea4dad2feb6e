"""FlashInfer's wrappers as SGLang uses them, in plain PyTorch: same arguments, same buffers, same moment at which each is read.

Where the real ones would read device buffers when they run, so do these; a plan that forgot to fill one shows as a wrong answer.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch


class DecodeWrapper:
    def __init__(
        self,
        workspace: torch.Tensor,
        layout: str,
        use_cuda_graph: bool = False,
        use_tensor_cores: bool = False,
        paged_kv_indptr_buffer: torch.Tensor | None = None,
        paged_kv_indices_buffer: torch.Tensor | None = None,
        paged_kv_last_page_len_buffer: torch.Tensor | None = None,
        backend: str = "auto",
    ) -> None:
        assert layout == "NHD"
        self._backend = backend
        self._graph = use_cuda_graph
        self._paged_kv_indptr_buf: Any = paged_kv_indptr_buffer
        self._paged_kv_indices_buf: Any = paged_kv_indices_buffer
        self._batch = None if paged_kv_last_page_len_buffer is None else len(paged_kv_last_page_len_buffer)
        self.plans: list[str] = []
        self.planned: torch.Tensor | None = None

    def begin_forward(
        self, indptr: Any, indices: Any, last_page_len: Any, heads: int, kv_heads: int, dim: int, page_size: int, **kinds: Any
    ) -> None:
        assert page_size == 1 and indptr.dtype == indices.dtype == torch.int32 and bool((last_page_len == 1).all())
        self.plans.append("plan")
        self.planned = indptr.clone()
        if self._graph:
            assert len(indptr) == self._batch + 1 if self._batch else True
            self._paged_kv_indptr_buf.copy_(indptr)
            self._paged_kv_indices_buf[: len(indices)].copy_(indices)
        else:
            self._paged_kv_indptr_buf, self._paged_kv_indices_buf = indptr, indices

    def forward(self, q: torch.Tensor, cache: tuple[torch.Tensor, torch.Tensor], sm_scale: float, logits_soft_cap: float) -> torch.Tensor:
        bounds = self._paged_kv_indptr_buf.tolist()
        assert self.planned is not None and self.planned.tolist() == bounds, "planned for other lengths than the buffers hold"
        rows = [self._paged_kv_indices_buf[a:b].long() for a, b in zip(bounds, bounds[1:])]
        return torch.cat([attend(q[i : i + 1], cache[0][row], cache[1][row], sm_scale, False)[0] for i, row in enumerate(rows)])


def fast_decode_plan(wrapper: DecodeWrapper, indptr: Any, *others: Any, global_override_indptr_cpu: torch.Tensor, **kinds: Any) -> None:
    """Reads the host's indptr only: device buffers must have been filled by the caller."""
    wrapper.plans.append("fast")
    wrapper.planned = global_override_indptr_cpu.clone()


class RaggedWrapper:
    def __init__(self, workspace: torch.Tensor, layout: str, backend: str) -> None:
        self._backend = "fa3" if backend == "auto" else backend

    def begin_forward(self, qo: torch.Tensor, kv: torch.Tensor, heads: int, kv_heads: int, dim: int, q_data_type: Any) -> None:
        self._bounds = qo.tolist()

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **how: Any) -> torch.Tensor:
        return self.forward_return_lse(q, k, v, **how)[0]

    def forward_return_lse(self, q: Any, k: Any, v: Any, causal: bool, sm_scale: float, logits_soft_cap: float) -> Any:
        parts = [attend(q[a:b], k[a:b], v[a:b], sm_scale, causal) for a, b in zip(self._bounds, self._bounds[1:])]
        return torch.cat([out for out, _ in parts]), torch.cat([lse for _, lse in parts])


class PagedWrapper:
    def __init__(self, workspace: torch.Tensor, layout: str, backend: str) -> None:
        self._backend = backend

    def begin_forward(
        self, qo: Any, kv: Any, indices: Any, last_page_len: Any, heads: int, kv_heads: int, dim: int, page_size: int, **kinds: Any
    ) -> None:
        self._queries, self._bounds, self._indices = qo.tolist(), kv.tolist(), indices

    def forward_return_lse(self, q: Any, cache: Any, causal: bool, sm_scale: float, logits_soft_cap: float) -> Any:
        parts = []
        for a, b, c, d in zip(self._queries, self._queries[1:], self._bounds, self._bounds[1:]):
            row = self._indices[c:d].long()
            parts.append(attend(q[a:b], cache[0][row], cache[1][row], sm_scale, causal))
        return torch.cat([out for out, _ in parts]), torch.cat([lse for _, lse in parts])


def merge_state(v_a: torch.Tensor, s_a: torch.Tensor, v_b: torch.Tensor, s_b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    total = torch.logaddexp(s_a, s_b)
    return v_a * (s_a - total).exp()[..., None] + v_b * (s_b - total).exp()[..., None], total


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """([rows, heads, dim], log-sum-exp [rows, heads]); nothing to see gives zeros and -inf."""
    rows, heads, _ = q.shape
    k, v = (tensor.repeat_interleave(heads // tensor.shape[1], dim=1) for tensor in (k, v))
    scores = torch.einsum("rhd,khd->rhk", q, k) * scale
    if causal:
        hidden = torch.ones(rows, len(k), dtype=torch.bool).triu(1)
        scores = scores.masked_fill(hidden[:, None], -torch.inf)
    lse = torch.logsumexp(scores, dim=-1)
    weights = (scores - lse[..., None]).exp().nan_to_num()
    return torch.einsum("rhk,khd->rhd", weights, v), lse


module = SimpleNamespace(
    BatchDecodeWithPagedKVCacheWrapper=DecodeWrapper,
    BatchPrefillWithRaggedKVCacheWrapper=RaggedWrapper,
    BatchPrefillWithPagedKVCacheWrapper=PagedWrapper,
    merge_state=merge_state,
    decode=SimpleNamespace(fast_decode_plan=fast_decode_plan),
)
