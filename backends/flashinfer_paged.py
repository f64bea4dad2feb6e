"""FlashInfer called as SGLang calls it, against the library alone.

Source: sglang/srt/layers/attention/flashinfer_backend.py, 0.5.16 and 0.5.22 (0.5.16 where they differ). Pages count tokens
there whatever the pool's page size is: tables are planned with page size 1.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backends.adapter import kernel_library, refuse_knobs, require_gpu
from backends.cell import Phase
from backends.device import dtype_of
from backends.flashinfer_calls.decode import DecodeCall
from backends.flashinfer_calls.extend import ExtendCall

if TYPE_CHECKING:
    import torch

    from backends.arm import Arm
    from backends.driver import CellData, KvPool, PreparedCall, Stage
    from backends.model import LayerKind

WORKSPACE_BYTES = 384 << 20
LARGE_WORKSPACE_BYTES = 512 << 20
LARGE = {
    "Qwen2ForCausalLM",
    "Qwen3ForCausalLM",
    "MiMoForCausalLM",
    "Qwen3VLForConditionalGeneration",
    "Qwen3VLMoeForConditionalGeneration",
}
TENSOR_CORE_GROUP = 4
DECODE_BACKEND = "fa2"
KNOBS = {"decode_backend": ("auto", "fa2", "fa3"), "tensor_cores": ("true", "false")}


@dataclass(frozen=True)
class Library:
    """The imported library and what its wrappers share. ``context_length`` sizes the table of a recorded batch,
    ``graph_max_batch`` bounds which are recorded (None = all)."""

    module: Any
    workspace: torch.Tensor
    dtype: torch.dtype
    kv_dtype: torch.dtype
    context_length: int
    graph_max_batch: int | None = None
    knobs: Mapping[str, str] = field(default_factory=dict)

    @property
    def decode_backend(self) -> str:
        """What the decode wrapper is asked for: fa2 since SGLang 0.5.9, before it nothing, which the library takes as "auto"."""
        return self.knobs.get("decode_backend", DECODE_BACKEND)

    def tensor_cores(self, layer: LayerKind) -> bool:
        """Whether decode goes through the prefill kernels (should_use_tensor_core)."""
        forced = self.knobs.get("tensor_cores", os.environ.get("SGLANG_FLASHINFER_USE_TENSOR_CORE"))
        if forced is not None:
            return forced.lower() == "true"
        return self.kv_dtype.itemsize == 1 or layer.group >= TENSOR_CORE_GROUP


class FlashInferPaged:
    """See `backends.driver.Driver`. Plain softmax attention: it ignores windows, soft caps and unequal head dims, which its entry keeps
    from it."""

    imports = ("flashinfer", "torch", "tvm_ffi")

    def __init__(self, arm: Arm, stage: Stage, pool: KvPool) -> None:
        flashinfer = kernel_library("flashinfer", "flashinfer-python")
        require_gpu(arm, stage)
        refuse_knobs(arm, KNOBS)
        dtypes = dtype_of(stage.model.dtype), dtype_of(arm.kv_dtype)
        self._library = Library(flashinfer, _workspace(stage), *dtypes, stage.context_length, stage.graph_max_batch, dict(arm.knobs))

    @staticmethod
    def import_ahead(packages: Sequence[str]) -> None:
        importlib.import_module("flashinfer")

    def prepare(self, data: CellData) -> PreparedCall:
        return DecodeCall(self._library, data) if data.cell.phase is Phase.DECODE else ExtendCall(self._library, data)

    def close(self) -> None:
        """The workspace stays with the process, as it does with the engine's."""


def _workspace(stage: Stage) -> torch.Tensor:
    """One uninitialised buffer a process, of the engine's size for this model."""
    import torch

    if "flashinfer_workspace" not in stage.extras:
        size = LARGE_WORKSPACE_BYTES if stage.model.architecture in LARGE else WORKSPACE_BYTES
        stage.extras["flashinfer_workspace"] = torch.empty(size, dtype=torch.uint8, device=stage.device)
    workspace: torch.Tensor = stage.extras["flashinfer_workspace"]
    return workspace
