"""When a recording makes anew the metadata that belongs inside it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from backends.sglang.capture import GraphedStep

LAYERS = 3


class Backend:
    made = 0

    def init_forward_metadata_in_graph(self, batch: object) -> None:
        self.made += 1


def recording(backend: Backend, on_gpu: bool) -> GraphedStep:
    """Only what `GraphedStep._enter_layer` looks at."""
    step = object.__new__(GraphedStep)
    step.data, step._batch = SimpleNamespace(q=SimpleNamespace(is_cuda=on_gpu)), None  # type: ignore[assignment]
    step._engine = SimpleNamespace(backend=backend, stage=SimpleNamespace(model=SimpleNamespace(attention_layers=LAYERS)))  # type: ignore[assignment]
    step._in_graph, step._left_in_step = False, 0
    return step


def test_it_comes_once_a_step_of_the_models_layers_however_few_pools_there_are() -> None:
    backend = Backend()
    step = recording(backend, on_gpu=False)
    for _ in range(2 * LAYERS + 1):
        step._enter_layer()
    assert backend.made == 3


def test_a_graph_begins_with_it_whatever_was_warmed_up_before(monkeypatch: pytest.MonkeyPatch) -> None:
    backend, captures = Backend(), iter([False, False, True, True, False, True])
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: next(captures))
    step, made = recording(backend, on_gpu=True), []
    for _ in range(6):
        step._enter_layer()
        made.append(backend.made)
    assert made == [1, 1, 2, 2, 3, 4]
