"""FlashMLA's decode called as SGLang calls it, against sglang-kernel alone.

Source: sglang/srt/layers/attention/flashmla_backend.py, 0.5.16. Signatures: sgl_kernel/flash_mla.py of sglang-kernel 0.4.5. Its prefill is
FlashInfer's, and the model's.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from backends.adapter import kernel_library, refuse_knobs, require_gpu
from backends.cell import Phase
from backends.driver import Refused
from backends.paged.calls import prepared
from backends.paged.knobs import KNOBS, server_of
from backends.paged.views import pages

if TYPE_CHECKING:
    import torch

    from backends.arm import Arm
    from backends.driver import CellData, KvPool, PreparedCall, Stage
    from backends.paged.step import Step

MODULE = "sgl_kernel.flash_mla"


class FlashMla:
    """See `backends.driver.Driver`."""

    imports = ("sgl_kernel", "torch")

    def __init__(self, arm: Arm, stage: Stage, pool: KvPool) -> None:
        refuse_knobs(arm, KNOBS)
        self._module = kernel_library(MODULE, "sglang-kernel")
        require_gpu(arm, stage)
        self._server = server_of(arm, stage)

    @staticmethod
    def import_ahead(packages: Sequence[str]) -> None:
        importlib.import_module(MODULE)

    def prepare(self, data: CellData) -> PreparedCall:
        if data.cell.phase is not Phase.DECODE:
            raise Refused("FlashMLA decodes alone; the engine leaves prefill to FlashInfer, and its own driver measures that")
        return prepared(self._server, data, FlashMlaKernel(self._module, data))

    def close(self) -> None:
        """Nothing is held."""


class FlashMlaKernel:
    """See `backends.paged.calls.Kernel`."""

    resolved = "flashmla"

    def __init__(self, module: Any, data: CellData) -> None:
        self._module = module
        self._layer = data.cell.layer

    def plan(self, step: Step) -> None:
        step.keep(*self._module.get_mla_metadata(step.lengths, self._layer.query_heads, 1, is_fp8_kvcache=False))

    def attend(self, step: Step, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """Lengths are narrowed with every call, as the engine does."""
        import torch

        tiles, splits = step.metadata
        output: torch.Tensor
        output, _ = self._module.flash_mla_with_kvcache(
            q=q.unsqueeze(1),
            k_cache=pages(k, step.data.pool.page_size),
            block_table=step.table,
            cache_seqlens=step.seq_lens.to(torch.int32),
            head_dim_v=self._layer.value_head_dim,
            tile_scheduler_metadata=tiles,
            num_splits=splits,
            softmax_scale=self._layer.softmax_scale,
            causal=True,
        )
        return output.squeeze(1)
