"""One decode or verify cell as the engine's decode runner captures and replays it.

The sequence is that of sglang/srt/model_executor/runner/decode_cuda_graph_runner.py (capture_one_shape, load_batch) and
runner_backend/full_cuda_graph_backend.py (capture_one): a static batch whose rows are all padding, metadata for capture,
two warm-up runs, recording; then before every replay the true rows are copied in and the metadata refreshed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from backends.sglang.calls import EagerCall
from backends.sglang.engine import REFUSALS
from backends.sglang.steps import rows_of, static_batch, static_rows

if TYPE_CHECKING:
    import torch

    from backends.driver import CellData
    from backends.sglang.engine import Engine

WARM_UPS = 2
# Where backends keep, by batch size or a key of it, what was captured: FlashAttention, FlashInfer, TensorRT-LLM and their MLA kin, 0.5.16
# and 0.5.22.
BY_SIZE = (
    *("decode_cuda_graph_metadata", "prefill_cuda_graph_metadata", "target_verify_metadata"),
    *("target_verify_metadata_topk_normal", "target_verify_metadata_topk_expand", "target_verify_metadata_topk_swa"),
)
CURRENT = ("forward_metadata", "forward_metadata_spec_decode_expand")


class GraphedStep(EagerCall):
    """See `backends.driver.PreparedCall`. Launches run eagerly on the true rows until the first `capturing`, on the static
    padded rows from then on. While recording, as many launches as the model has layers are a step.
    """

    graph = True

    def __init__(self, engine: Engine, data: CellData) -> None:
        super().__init__(engine, data)
        self._fill: int = engine.backend.get_cuda_graph_seq_len_fill_value()
        self._rows = rows_of(data)
        self._static = static_rows(data, self._fill)
        self._live = self._inputs
        self._versions: list[int] = []
        self._step = self._batch
        self._captured: _Captured | None = None
        self._recording = False
        self._in_graph = False
        self._left_in_step = 0

    @contextmanager
    def capturing(self) -> Iterator[None]:
        from sglang.srt.model_executor.runner_utils.capture_mode import model_capture_mode

        with self.active(), model_capture_mode():
            self._prepare_capture()
            self._recording, self._left_in_step = True, 0
            try:
                yield
            finally:
                self._recording = False

    def plan(self) -> None:
        if self._captured is None:
            return super().plan()
        self._refresh_inputs()
        self._static.load(self._rows, self._fill)
        self._refresh_metadata()

    def launch(self, slot: int) -> torch.Tensor:
        """Output [tokens or padded batch, query heads x value head dim], live rows first."""
        if self._recording:
            self._enter_layer()
        return super().launch(slot)

    def _enter_layer(self) -> None:
        """The part of the metadata that belongs inside the graph (for most backends: nothing) comes first in it and first in every step."""
        import torch

        in_graph = self.data.q.is_cuda and torch.cuda.is_current_stream_capturing()
        if not self._left_in_step or in_graph is not self._in_graph:
            self._engine.backend.init_forward_metadata_in_graph(self._batch)
            self._in_graph, self._left_in_step = in_graph, self._engine.stage.model.attention_layers
        self._left_in_step -= 1

    def _prepare_capture(self) -> None:
        self._static.fill(self._fill)
        if self._captured is None:
            self._capture_metadata()
            self._warm_up()
        else:  # recorded once already: a second recording must read the same metadata, or the first goes stale
            self._refresh_metadata()

    def _capture_metadata(self) -> None:
        engine = self._engine
        self._batch = static_batch(self.data, self._static, self._fill, engine.stage.drafting)
        engine.context.names.bind_static(engine.runner, self._batch)
        self._inputs = self._padded_inputs()
        before = _kept(engine.backend)
        try:
            engine.backend.init_forward_metadata_out_graph(self._batch, in_capture=True)
        except REFUSALS as error:
            raise engine.refusal(error) from error
        self._captured = _Captured(engine.backend, before)

    def _warm_up(self) -> None:
        import torch

        for _ in range(WARM_UPS):
            if self.data.q.is_cuda:
                torch.cuda.synchronize()
            self._engine.backend.init_forward_metadata_in_graph(self._batch)
            super().launch(0)
            self._engine.backend.on_after_cuda_graph_warmup()

    def _refresh_metadata(self) -> None:
        view = self._engine.context.names.replay_view(self._step, self._static, self._fill)
        try:
            self._engine.backend.init_forward_metadata_out_graph(view)
        except REFUSALS as error:
            raise self._engine.refusal(error) from error

    def _padded_inputs(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Q, K and V of the padded batch; the live tensors themselves where nothing is padded."""
        if self._static.batch == self._rows.batch:
            return self._live
        q, k, v = (tensor.new_zeros(self._static.tokens, tensor.shape[1]) for tensor in self._live)
        return q, k, v

    def _refresh_inputs(self) -> None:
        """Carry live rows that were rewritten in place since the last plan over to their padded copies."""
        versions = [tensor._version for tensor in self._live]
        if self._inputs is not self._live and versions != self._versions:
            for padded, live in zip(self._inputs, self._live):
                padded[: len(live)].copy_(live)
        self._versions = versions

    def resume(self) -> None:
        if self._captured is not None:
            self._captured.restore()

    def close(self) -> None:
        super().close()
        if self._captured is not None:
            self._captured.drop()
            self._captured = None


class _Captured:
    """What a capture left in the backend under its batch size: another cell of that size would replace it, and the
    recorded kernels go on reading this one. ``before``: of `_kept`."""

    def __init__(self, backend: Any, before: dict[tuple[str, Any], Any]) -> None:
        self._backend = backend
        self._current = {name: getattr(backend, name) for name in CURRENT if hasattr(backend, name)}
        self._entries = {place: entry for place, entry in _kept(backend).items() if before.get(place) is not entry}

    def restore(self) -> None:
        for name, metadata in self._current.items():
            setattr(self._backend, name, metadata)
        for (name, key), entry in self._entries.items():
            getattr(self._backend, name)[key] = entry

    def drop(self) -> None:
        for (name, key), entry in self._entries.items():
            by_size = getattr(self._backend, name)
            if by_size.get(key) is entry:
                del by_size[key]


def _kept(backend: Any) -> dict[tuple[str, Any], Any]:
    """Every captured entry by where it is kept."""
    return {(name, key): entry for name in BY_SIZE for key, entry in (getattr(backend, name, None) or {}).items()}
