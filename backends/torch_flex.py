"""SGLang's flex_attention: compiled flex attention, request by request, with block masks made anew every step."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

from backends.cell import Phase
from backends.driver import MissingPackage
from backends.torch_requests import RequestLoop

if TYPE_CHECKING:
    import torch

    from backends.arm import Arm
    from backends.driver import CellData, KvPool, PreparedCall, Stage

COMPILERS = ("g++", "clang++", "c++")
RECOMPILES = 1024  # the engine's own limit: every new length may compile once


class TorchFlex:
    """See `backends.driver.Driver`. Source: sglang/srt/layers/attention/torch_flex_backend.py, 0.5.16 to 0.5.22.

    It ignores windows and soft caps, which its entry keeps from it.
    The first call of a phase compiles, on a CPU with the machine's C++ compiler: 17 to 22 s, 4 s once cached on disk.
    """

    def __init__(self, arm: Arm, stage: Stage, pool: KvPool) -> None:
        import torch
        from torch.nn.attention.flex_attention import flex_attention

        self.imports = ("torch", "triton") if stage.device.type == "cuda" else ("torch",)
        _require_compiler(stage)
        config: Any = torch._dynamo.config
        config.cache_size_limit = config.accumulated_cache_size_limit = RECOMPILES
        self._compiled: Any = torch.compile(flex_attention, dynamic=True)

    def prepare(self, data: CellData) -> PreparedCall:
        attention = _Flex(data, self._compiled)
        return RequestLoop(data, attention.attend, attention.plan, lambda: "flex:compiled")

    def close(self) -> None:
        """Compiled code stays with the process."""


def _require_compiler(stage: Stage) -> None:
    if stage.device.type == "cpu" and not (os.environ.get("CXX") or any(map(shutil.which, COMPILERS))):
        raise MissingPackage("a C++ compiler (g++), with which torch.compile builds its CPU kernels, is not on PATH; install one")


class _Flex:
    def __init__(self, data: CellData, compiled: Any) -> None:
        self._data = data
        self._compiled = compiled
        self._masks: list[Any] = []

    def plan(self) -> None:
        """One block mask a request, from lengths that lie on the device; then, as there, the allocator's cache is emptied."""
        import torch
        from torch.nn.attention.flex_attention import create_block_mask

        torch.cuda.empty_cache()
        decode = self._data.cell.phase is Phase.DECODE
        rule = _decode_mask if decode else _causal_mask
        device = self._data.q.device
        self._masks = [
            create_block_mask(rule, None, None, 1 if decode else context, context, device=device, _compile=False)
            for context in self._data.seq_lens
        ]

    def attend(self, request: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        layer = self._data.cell.layer
        output: torch.Tensor = self._compiled(
            q, k, v, block_mask=self._masks[request], scale=layer.softmax_scale, enable_gqa=layer.group > 1
        )
        return output


def _causal_mask(batch: Any, head: Any, query: Any, key: Any) -> Any:
    return query >= key


def _decode_mask(batch: Any, head: Any, query: Any, key: Any) -> Any:
    return query <= key
