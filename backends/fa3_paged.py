"""FlashAttention 3 called as SGLang calls it, against one of the libraries that carry its kernels.

Source: sglang/srt/layers/attention/flashattention_backend.py, 0.5.16. Latent attention (MLA) in decode alone: what prefill adds there is
the model's. Signatures: sgl_kernel/flash_attn.py of sglang-kernel 0.4.5, hopper/flash_attn_interface.py of flash-attention,
vllm/vllm_flash_attn/flash_attn_interface.py of vLLM 0.26.0.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from backends.adapter import kernel_library, refuse_knobs, require_gpu
from backends.cell import Phase
from backends.device import dtype_of
from backends.driver import Refused
from backends.paged.calls import prepared
from backends.paged.knobs import KNOBS, server_of
from backends.paged.views import latent_parts, pages

if TYPE_CHECKING:
    import torch

    from backends.arm import Arm
    from backends.driver import CellData, KvPool, PreparedCall, Stage
    from backends.paged.step import Step

# import name: (module of the calls, distribution)
LIBRARIES = {
    "sgl_kernel": ("sgl_kernel.flash_attn", "sglang-kernel"),
    "flash_attn_interface": ("flash_attn_interface", "flash-attention 3, which is built from its hopper folder"),
    "vllm": ("vllm.vllm_flash_attn", "vllm"),
}
FA3_KNOBS = {**KNOBS, "library": tuple(LIBRARIES)}
WITHOUT_SINKS = ("flash_attn_interface",)


class FlashAttention3:
    """See `backends.driver.Driver`."""

    def __init__(self, arm: Arm, stage: Stage, pool: KvPool) -> None:
        refuse_knobs(arm, FA3_KNOBS)
        self._name = dict(arm.knobs).get("library", "sgl_kernel")
        self._module = kernel_library(*LIBRARIES[self._name])
        require_gpu(arm, stage)
        self.imports = (self._name, "torch")
        self._server = server_of(arm, stage)
        self._how = {"softcap": stage.model.logit_softcap or 0.0, "num_splits": 1 if stage.deterministic else 0}
        self._kv_dtype = arm.kv_dtype

    @staticmethod
    def import_ahead(packages: Sequence[str]) -> None:
        importlib.import_module("sgl_kernel.flash_attn")

    def prepare(self, data: CellData) -> PreparedCall:
        if data.cell.layer.projected_from is not None:
            raise Refused("latent prefill projects keys, which is the model's work; the engine's own driver measures it")
        if data.sinks is not None and self._name in WITHOUT_SINKS:
            raise Refused(f"{self._name} takes no attention sinks; use library=sgl_kernel")
        kernel = Fa3Kernel(self._module, self._name, data, self._how, self._kv_dtype)
        return prepared(self._server, data, kernel)

    def close(self) -> None:
        """Nothing is held."""


class Fa3Kernel:
    """See `backends.paged.calls.Kernel`."""

    def __init__(self, module: Any, name: str, data: CellData, how: dict[str, Any], kv_dtype: str) -> None:
        self._module = module
        self._call = _varlen if name == "vllm" else _with_kvcache
        self._data = data
        self._layer = data.cell.layer
        self._how = {**how, "softmax_scale": self._layer.softmax_scale, "causal": True}
        self._sinks = None if data.sinks is None else data.sinks.to(data.q.dtype)
        self._kv_dtype = dtype_of(kv_dtype)
        self.resolved = f"fa3:{module.__name__}"

    def plan(self, step: Step) -> None:
        """The schedule of a decode step's tiles, once for all layers; latent and windowed ones are launched without."""
        layer, decode = self._layer, self._data.cell.phase is Phase.DECODE
        if not decode or layer.latent or layer.sliding_window is not None:
            return
        schedule = self._module.get_scheduler_metadata(
            *(step.batch, 1, step.longest, layer.query_heads, layer.kv_heads, layer.head_dim, step.lengths),
            qkv_dtype=self._kv_dtype,
            cu_seqlens_q=step.starts,
            page_size=self._data.pool.page_size,
            causal=True,
            has_softcap=self._how["softcap"] > 0,
            num_splits=self._how["num_splits"],
        )
        step.keep(schedule)

    def attend(self, step: Step, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        layer, size = self._layer, self._data.pool.page_size
        how = {**self._how, "window_size": (-1, -1) if layer.sliding_window is None else (layer.sliding_window - 1, 0)}
        if layer.latent:
            values, positions = latent_parts(q, layer)
            cached_values, cached_positions = latent_parts(k, layer)
            return self._call(self._module, step, positions, pages(cached_positions, size), pages(cached_values, size), qv=values, **how)
        if self._sinks is not None:
            how["sinks"] = self._sinks
        how["scheduler_metadata"] = step.metadata[0] if step.metadata else None
        return self._call(self._module, step, q, pages(k, size), pages(v, size), **how)


def _with_kvcache(module: Any, step: Step, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **how: Any) -> torch.Tensor:
    output: torch.Tensor = module.flash_attn_with_kvcache(
        q,
        k,
        v,
        page_table=step.table,
        cache_seqlens=step.lengths,
        cu_seqlens_q=step.starts,
        max_seqlen_q=step.longest_new,
        **how,
    )
    return output


def _varlen(module: Any, step: Step, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **how: Any) -> torch.Tensor:
    """vLLM's copy, whose words for some arguments differ; it takes the table's width from the longest length it is told."""
    sinks, qv = how.pop("sinks", None), how.pop("qv", None)
    window = list(how.pop("window_size"))
    longest = step.table.shape[1] * step.data.pool.page_size
    words = {"window_size": window, "s_aux": sinks, "q_v": qv, "seqused_k": step.lengths, "block_table": step.table, "fa_version": 3}
    output: torch.Tensor = module.flash_attn_varlen_func(q, k, v, step.longest_new, step.starts, longest, **words, **how)
    return output
