"""SGLang's own attention backends, one mechanism for every name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from backends.driver import Refused
from backends.latent import LATENT
from backends.model import Attention
from backends.sglang.calls import EagerCall
from backends.sglang.capture import GraphedStep
from backends.sglang.context import import_ahead, shared_context
from backends.sglang.engine import REFUSALS, Engine

if TYPE_CHECKING:
    from backends.arm import Arm
    from backends.cell import Cell
    from backends.driver import CellData, KvPool, Stage


class SglangDriver:
    """See `backends.driver.Driver`; ``arm.backend`` is a name of SGLang's registry. ``warnings`` is what the engine logged.

    Limits of this version: softmax attention over a plain paged pool (no separate pool for windowed layers); of speculation the
    steps that verify, not those of the draft. Out of memory and device errors pass through as torch raises them.
    """

    def __init__(self, arm: Arm, stage: Stage, pool: KvPool) -> None:
        if stage.model.attention is Attention.MLA and stage.model.architecture not in LATENT:
            raise Refused(f"the widths of {stage.model.architecture}'s latent heads are not listed in backends/latent.py; add them there")
        context = shared_context(stage)
        self.engine = Engine(arm, stage, pool, context)
        self.server_bytes = self.engine.server_bytes
        self.warnings = context.warnings
        libraries = ("triton", "tvm_ffi") if stage.device.type == "cuda" else ()  # metadata and KV-write kernels
        self.imports = tuple(dict.fromkeys(("sglang", "torch", *libraries, *arm.packages)))
        captures = stage.device.type == "cuda" and stage.graph_max_batch != 0
        self._has_graph_state = captures and self._make_graph_state(stage)

    @staticmethod
    def import_ahead(packages: Sequence[str]) -> None:
        import_ahead(packages)

    def _make_graph_state(self, stage: Stage) -> bool:
        """Allocate the backend's static buffers for the largest captured batch; False where it has none."""
        batch = min(stage.max_batch, stage.graph_max_batch or stage.max_batch)
        width = stage.drafting.tokens if stage.drafting else 1
        try:
            self.engine.backend.init_cuda_graph_state(batch, batch * width)
        except NotImplementedError:
            return False
        return True

    def prepare(self, data: CellData) -> EagerCall:
        """Raises `Refused` where this version's batches or layers are not those the names were read from."""
        if data.pool is not self.engine.pool:
            raise ValueError(f"cell {data.cell.name} lies in another pool than the one {self.engine.arm.name} was opened on")
        kind = GraphedStep if self._is_captured(data.cell) else EagerCall
        try:
            return kind(self.engine, data)
        except REFUSALS as error:
            raise self.engine.refusal(error) from error

    def _is_captured(self, cell: Cell) -> bool:
        limit = self.engine.stage.graph_max_batch
        fits = limit is None or cell.padded_batch <= limit
        return self._has_graph_state and cell.generates and fits

    def close(self) -> None:
        """Let go of the backend and its buffers; the engine's process-wide state stays for the next arm."""
        del self.engine
