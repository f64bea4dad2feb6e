"""XQA, the decode kernel behind SGLang's trtllm_mha on Hopper and RTX Blackwell, called as SGLang calls it, against FlashInfer alone.

Source: sglang/srt/layers/attention/trtllm_mha_backend.py, forward_decode, 0.5.16. Signature: flashinfer/decode.py,
trtllm_batch_decode_with_kv_cache, of FlashInfer 0.6.14.
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
from backends.paged.views import heads_first

if TYPE_CHECKING:
    import torch

    from backends.arm import Arm
    from backends.driver import CellData, KvPool, PreparedCall, Stage
    from backends.paged.step import Step

WORKSPACE_BYTES = 512 << 20


class Xqa:
    """See `backends.driver.Driver`. It decodes alone."""

    imports = ("flashinfer", "torch", "tvm_ffi")

    def __init__(self, arm: Arm, stage: Stage, pool: KvPool) -> None:
        refuse_knobs(arm, KNOBS)
        self._module = kernel_library("flashinfer.decode", "flashinfer-python")
        require_gpu(arm, stage)
        self._server = server_of(arm, stage, wide_eagerly=True)
        self._workspace = _workspace(stage)

    @staticmethod
    def import_ahead(packages: Sequence[str]) -> None:
        importlib.import_module("flashinfer.decode")

    def prepare(self, data: CellData) -> PreparedCall:
        if data.cell.phase is not Phase.DECODE:
            raise Refused("XQA decodes alone; trtllm_mha's prefill is another kernel, which the engine's own driver measures")
        return prepared(self._server, data, XqaKernel(self._module, data, self._workspace, self._server.context_length))

    def close(self) -> None:
        """The workspace stays with the process, as it does with the engine's."""


class XqaKernel:
    """See `backends.paged.calls.Kernel`."""

    resolved = "xqa"

    def __init__(self, module: Any, data: CellData, workspace: torch.Tensor, context_length: int) -> None:
        layer = data.cell.layer
        self._attention = module.trtllm_batch_decode_with_kv_cache
        self._how = {
            "workspace_buffer": workspace,
            "max_seq_len": context_length,
            "bmm1_scale": layer.softmax_scale,
            "bmm2_scale": 1.0,
            "window_left": -1 if layer.sliding_window is None else layer.sliding_window - 1,
            "sinks": data.sinks,
            "out_dtype": data.q.dtype,
        }

    def plan(self, step: Step) -> None:
        """It has no metadata beyond lengths and table."""

    def attend(self, step: Step, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        size = step.data.pool.page_size
        cache = (heads_first(k, size), heads_first(v, size))
        output: torch.Tensor = self._attention(query=q, kv_cache=cache, block_tables=step.table, seq_lens=step.lengths, **self._how)
        return output


def _workspace(stage: Stage) -> torch.Tensor:
    """One a process, zeros: semaphores lie in it."""
    import torch

    if "xqa_workspace" not in stage.extras:
        stage.extras["xqa_workspace"] = torch.zeros(WORKSPACE_BYTES, dtype=torch.uint8, device=stage.device)
    workspace: torch.Tensor = stage.extras["xqa_workspace"]
    return workspace
