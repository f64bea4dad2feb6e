"""The parts of a step as torch runs them on a CPU: which products and passes, and that they are timed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from backends.spec import TimingSpec
from backends.step import timed
from backends.step.head import HeadCall, heads
from backends.step.layer import LayerCall, LayerWeights
from backends.step.shape import LayerShape, StepShape

CPU = torch.device("cpu")
DENSE = StepShape("float32", 32, (LayerShape(3, 32, 16, 16, 32),), 64, 1, 1, 100, 4, 4, 2)
MIXTURE = replace(DENSE, experts=4, experts_per_token=2, mlp_width=16)
TIMING = TimingSpec(1, 2, 0.05, 0.05, 0.0, 1.0)


class Launched(TorchDispatchMode):
    """Counts torch's operators, and the elements that passes move."""

    def __init__(self) -> None:
        super().__init__()
        self.count: Counter[str] = Counter()
        self.moved = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = function.overloadpacket.__name__
        self.count[name] += 1
        if name == "neg":
            self.moved += 2 * args[0].numel()
        return function(*args, **(kwargs or {}))


def layer(shape: StepShape, fused: bool) -> LayerCall:
    (kind,) = shape.layers
    return LayerCall(shape, kind, [LayerWeights(shape, kind, CPU)], CPU, fused)


def launched(call: LayerCall | HeadCall) -> Launched:
    with Launched() as seen:
        call.launch(0)
    return seen


@pytest.mark.parametrize("shape", [DENSE, MIXTURE])
def test_a_step_multiplies_what_its_shape_says(shape: StepShape) -> None:
    with FlopCounterMode(display=False) as once:
        layer(shape, True).launch(0)
    with FlopCounterMode(display=False) as head:
        HeadCall(shape, heads(shape, 1, CPU), CPU, True).launch(0)
    router = 2 * shape.rows * shape.hidden * shape.experts if shape.experts > 1 else 0
    (kind,) = shape.layers
    assert kind.layers * (once.get_total_flops() - router) + head.get_total_flops() == shape.flops()


def test_what_an_engine_fuses_is_one_pass_over_the_bytes_of_the_fused_kernel() -> None:
    seen = launched(layer(DENSE, fused=True))
    (kind,) = DENSE.layers
    add_norm, cache, activation = 4 * 32, 2 * (kind.query + kind.key + kind.value), 3 * 64
    assert seen.moved == DENSE.rows * (2 * add_norm + cache + activation)
    assert seen.count["neg"] == 4


def test_apart_every_piece_has_a_kernel_and_more_is_moved() -> None:
    fused, apart = (launched(layer(DENSE, fused)) for fused in (True, False))
    assert apart.count["neg"] == 8 and apart.moved > fused.moved
    assert apart.count["mm"] == fused.count["mm"] == 4


def test_a_mixture_multiplies_the_experts_it_touches_and_no_others() -> None:
    seen = launched(layer(MIXTURE, fused=True))
    assert seen.count["bmm"] == 2 and seen.count["mm"] == 3
    assert MIXTURE.touched == 4 and LayerWeights(MIXTURE, MIXTURE.layers[0], CPU).down.shape == (4, 16, 32)


def test_the_whole_step_is_timed_eagerly_on_a_processor() -> None:
    found = timed.rest_times(DENSE, CPU, TIMING, None, lambda: True)
    assert found.mode == "eager" and found.why_none is None
    assert len(found.fused_ms) == len(found.apart_ms) == timed.VISITS
    assert min(*found.fused_ms, *found.apart_ms) > 0


def test_a_step_waits_until_the_device_is_warm() -> None:
    answers = iter([False, False, True])
    timed.rest_times(DENSE, CPU, TIMING, None, lambda: next(answers))
    assert next(answers, None) is None


def test_weights_that_do_not_fit_are_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timed, "free_bytes", lambda device: 1 << 20)
    found = timed.rest_times(replace(DENSE, vocab=100_000), CPU, TIMING, None, lambda: True)
    assert found.why_none is not None and "1 MiB are free" in found.why_none


@pytest.mark.gpu
def test_on_a_gpu_a_step_is_replayed_and_takes_at_least_as_long_as_its_weights() -> None:
    cuda = torch.device("cuda", 0)
    shape = StepShape("bfloat16", 4096, (LayerShape(36, 4096, 1024, 1024, 4096),), 12288, 1, 1, 151936, 16, 16, 16)
    found = timed.rest_times(shape, cuda, replace(TIMING, replays=8, replay_ms=4.0, discard_ms=5.0), None, lambda: True)
    assert found.mode == "graph" and found.why_none is None
    assert shape.weight_bytes() / (min(found.fused_ms) * 1e-3) < 9e12  # no GPU reads faster
    assert min(found.fused_ms) < 1.05 * max(found.apart_ms)
