"""One cell launched eagerly: prefill, and what the engine would otherwise capture."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from backends.sglang import latent
from backends.sglang.engine import REFUSALS
from backends.sglang.layers import layers_of
from backends.sglang.resolved import inner_path

if TYPE_CHECKING:
    import torch

    from backends.driver import CellData
    from backends.sglang.engine import Engine


class EagerCall:
    """See `backends.driver.PreparedCall`. Q, K and V go in as the model hands them over: [tokens, heads x dim]."""

    graph = False

    def __init__(self, engine: Engine, data: CellData) -> None:
        self.data = data
        self._engine = engine
        self._layers = layers_of(engine, data)
        self._batch: Any = engine.step_batch(data)
        self._inputs = (data.q.flatten(1), data.k_new.flatten(1), data.v_new.flatten(1))
        self._spoilt = data.pool.scales not in (None, (1.0, 1.0))  # the engine divides new keys and values by them in place

    @property
    def resolved(self) -> str:
        engine = self._engine
        path = inner_path(engine.arm.backend, engine.backend, self.data.cell, engine.context.names)
        forms = (form for layer in self._layers if (form := getattr(layer, "form", "")))
        return ",".join(filter(None, (next(forms, "").lower(), path)))

    def plan(self) -> None:
        if self.data.cell.layer.projected_from is not None:
            latent.restart(self._batch)
        try:
            self._engine.backend.init_forward_metadata(self._batch)
        except REFUSALS as error:
            raise self._engine.refusal(error) from error

    def launch(self, slot: int) -> torch.Tensor:
        """Output [tokens, query heads x value head dim]. Raises `FellBack` once the engine said that it took a slower path."""
        q, k, v = self._inputs
        if self._spoilt:
            k, v = k.clone(), v.clone()
        try:
            output: torch.Tensor = self._layers[slot](q, k, v, self._batch)
        except REFUSALS as error:
            raise self._engine.refusal(error) from error
        self._engine.context.raise_on_fallback()
        return output

    def active(self) -> AbstractContextManager[None]:
        return self._engine.running(self)

    @contextmanager
    def capturing(self) -> Iterator[None]:
        """Nothing to prepare: an eager call is not recorded."""
        with self.active():
            yield

    def resume(self) -> None:
        """Called when this call becomes the engine's current one."""

    def close(self) -> None:
        self._engine.leave(self)
        self._layers, self._batch = [], None
