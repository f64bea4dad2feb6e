"""FlashAttention 4 called as SGLang calls it, against the package flash-attn-4. The engine carries a copy of its own.

Source: sglang/jit_kernel/flash_attention_v4.py and sglang/srt/layers/attention/flashattention_backend.py, 0.5.16. Signature:
flash_attn/cute/interface.py of flash-attn-4 4.0.0b36. No longest length is passed, so that splits follow the table's width (in the copy
that the engine carries, the size of the pool).
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from backends.adapter import kernel_library, refuse_knobs, require_gpu
from backends.paged.calls import prepared
from backends.paged.knobs import KNOBS, server_of
from backends.paged.views import pages

if TYPE_CHECKING:
    import torch

    from backends.arm import Arm
    from backends.driver import CellData, KvPool, PreparedCall, Stage
    from backends.paged.step import Step

MODULE = "flash_attn.cute.interface"


class FlashAttention4:
    """See `backends.driver.Driver`. Kernels are built in the process, one a combination of tiles and splits."""

    imports = ("flash_attn", "torch", "tvm_ffi")

    def __init__(self, arm: Arm, stage: Stage, pool: KvPool) -> None:
        refuse_knobs(arm, KNOBS)
        self._module = kernel_library(MODULE, "flash-attn-4")
        require_gpu(arm, stage)
        self._server = server_of(arm, stage)
        whole = stage.deterministic or not _can_split(stage.device)
        self._how = {"softcap": stage.model.logit_softcap or 0.0, "num_splits": 1 if whole else 0}

    @staticmethod
    def import_ahead(packages: Sequence[str]) -> None:
        importlib.import_module(MODULE)

    def prepare(self, data: CellData) -> PreparedCall:
        kernel = Fa4Kernel(self._module, data, self._how)
        return prepared(self._server, data, kernel)

    def close(self) -> None:
        """Compiled code stays with the process."""


class Fa4Kernel:
    """See `backends.paged.calls.Kernel`."""

    def __init__(self, module: Any, data: CellData, how: dict[str, Any]) -> None:
        layer = data.cell.layer
        self._attention = module.flash_attn_varlen_func
        window = (None, None) if layer.sliding_window is None else (layer.sliding_window - 1, 0)
        sinks = None if data.sinks is None else data.sinks.to(data.q.dtype)
        self._how = {**how, "softmax_scale": layer.softmax_scale, "causal": True, "window_size": window, "learnable_sink": sinks}
        self.resolved = f"fa4:{MODULE}{',one split' if how['num_splits'] == 1 else ''}"

    def plan(self, step: Step) -> None:
        """Its schedule is made with every call."""

    def attend(self, step: Step, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        size = step.data.pool.page_size
        output: torch.Tensor
        output, _ = self._attention(
            q,
            pages(k, size),
            pages(v, size),
            cu_seqlens_q=step.starts,
            seqused_k=step.lengths,
            max_seqlen_q=step.longest_new,
            page_table=step.table,
            return_lse=True,
            **self._how,
        )
        return output


def _can_split(device: torch.device) -> bool:
    """The package's kernels for Hopper cannot, and fail where its rule for splits wants some (interface.py, _flash_attn_fwd); those in the
    engine's copy can."""
    import torch

    return device.type != "cuda" or torch.cuda.get_device_capability(device)[0] != 9
