"""FlashInfer's latent decode (MLA) called as SGLang calls it, against the library alone.

Source: sglang/srt/layers/attention/flashinfer_mla_backend.py, 0.5.16. Signatures: flashinfer/mla of FlashInfer 0.6.14. Pages count tokens,
whatever the pool's page size is. Its prefill projects keys, which is the model's work.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from backends.adapter import kernel_library, refuse_knobs, require_gpu
from backends.cell import Phase
from backends.driver import Refused
from backends.flashinfer_calls.tables import starts, token_slots
from backends.paged.calls import Server, prepared
from backends.paged.views import latent_parts

if TYPE_CHECKING:
    import torch

    from backends.arm import Arm
    from backends.driver import CellData, KvPool, PreparedCall, Stage
    from backends.paged.step import Step

WORKSPACE_BYTES = 384 << 20


class FlashInferLatent:
    """See `backends.driver.Driver`."""

    imports = ("flashinfer", "torch", "tvm_ffi")

    def __init__(self, arm: Arm, stage: Stage, pool: KvPool) -> None:
        refuse_knobs(arm, {})
        self._module = kernel_library("flashinfer.mla", "flashinfer-python")
        require_gpu(arm, stage)
        self._server = Server(stage.context_length, stage.graph_max_batch)
        self._workspace = _workspace(stage)

    @staticmethod
    def import_ahead(packages: Sequence[str]) -> None:
        importlib.import_module("flashinfer.mla")

    def prepare(self, data: CellData) -> PreparedCall:
        if data.cell.phase is not Phase.DECODE:
            raise Refused("latent prefill projects keys, which is the model's work; the engine's own driver measures it")
        kernel = LatentKernel(self._module.BatchMLAPagedAttentionWrapper, data, self._workspace, self._server.context_length)
        return prepared(self._server, data, kernel)

    def close(self) -> None:
        """The workspace stays with the process, as it does with the engine's."""


class LatentKernel:
    """See `backends.paged.calls.Kernel`. A recorded batch has a wrapper of its own, planned once plainly and then on the host alone."""

    def __init__(self, wrapper: Any, data: CellData, workspace: torch.Tensor, context_length: int) -> None:
        self._make = wrapper
        self._workspace = workspace
        self._context_length = context_length
        self._layer = data.cell.layer
        self._recorded: Any = None
        self._wrapper: Any = wrapper(workspace, backend="auto")

    @property
    def resolved(self) -> str:
        return str(self._wrapper._backend)

    def plan(self, step: Step) -> None:
        if step.recorded and self._recorded is not None:
            self._plan_fast(step)
            return
        if step.recorded:
            self._wrapper = self._recorded = self._recorder(step)
        self._plan_whole(step)

    def attend(self, step: Step, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        import torch

        values, positions = latent_parts(q, self._layer)
        output: torch.Tensor = self._wrapper.run(values, positions, *latent_parts(k, self._layer), out=torch.empty_like(values))
        return output

    def _plan_whole(self, step: Step) -> None:
        layer, dtype = self._layer, step.data.q.dtype
        bounds, slots = starts(step.seq_lens), _slots(step)
        widths = (layer.value_head_dim, layer.head_dim - layer.value_head_dim)
        self._wrapper.plan(
            *(step.starts, bounds, slots, step.lengths, layer.query_heads, *widths, 1, False, layer.softmax_scale, dtype, dtype)
        )

    def _plan_fast(self, step: Step) -> None:
        """From the host's lengths, without waiting for the device; the slots go into the recorded table
        (flashinfer_mla_backend.py, fast_mla_decode_plan)."""
        import torch

        wrapper, layer = self._wrapper, self._layer
        slots = _slots(step)
        wrapper._kv_indices_buf[: len(slots)] = slots
        first = torch.arange(step.batch + 1, dtype=torch.int32)
        buffers = (wrapper._float_workspace_buffer, wrapper._int_workspace_buffer, wrapper._pin_memory_int_workspace_buffer)
        lengths = step.host_lengths
        wrapper._cached_module.plan(
            *(*buffers, first, starts(lengths), lengths.to(torch.int32), layer.query_heads, layer.value_head_dim, False)
        )

    def _recorder(self, step: Step) -> Any:
        import torch

        def buffer(size: int) -> torch.Tensor:
            return torch.zeros(size, dtype=torch.int32, device=step.lengths.device)

        return self._make(
            self._workspace,
            use_cuda_graph=True,
            qo_indptr=buffer(step.batch + 1),
            kv_indptr=buffer(step.batch + 1),
            kv_indices=buffer(step.batch * self._context_length),
            kv_len_arr=buffer(step.batch),
            backend="auto",
        )


def _slots(step: Step) -> torch.Tensor:
    return token_slots(step.data.req_to_token, step.rows, step.seq_lens, int(step.host_lengths.sum()))


def _workspace(stage: Stage) -> torch.Tensor:
    """One uninitialised buffer a process, of the engine's size."""
    import torch

    if "flashinfer_mla_workspace" not in stage.extras:
        stage.extras["flashinfer_mla_workspace"] = torch.empty(WORKSPACE_BYTES, dtype=torch.uint8, device=stage.device)
    workspace: torch.Tensor = stage.extras["flashinfer_mla_workspace"]
    return workspace
