"""The rest of a step timed as arms are: layers replayed from a CUDA graph, over weights that are never warm; on a CPU launched singly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from backends.device import cache_bytes, free_bytes
from backends.step.head import HeadCall, heads
from backends.step.layer import LayerCall, LayerWeights
from backends.step.shape import RestTimes
from backends.timing.capture import ReplayedCall
from backends.timing.wall_clock import WallCall

if TYPE_CHECKING:
    import torch

    from backends.driver import PreparedCall
    from backends.spec import TimingSpec
    from backends.step.shape import StepShape
    from backends.timing.sm_clock import SmClock
    from backends.timing.timed import Timed

VISITS = 8
COLD = 3  # caches of other weights between two reads of one
SPARE = 0.9  # of the free memory
US_PER_MS = 1000.0
Make = Callable[[bool], "PreparedCall"]  # fused or not


@dataclass(frozen=True)
class _Part:
    """``times`` as often in a step."""

    make: Make
    slots: int
    times: int


def rest_times(shape: StepShape, device: torch.device, timing: TimingSpec, clock: SmClock | None, warm: Callable[[], bool]) -> RestTimes:
    """``warm``: whether the device has run long enough to be timed; each look at it is after some work. A shape too large for the free
    memory has no times."""
    import torch

    mode = "eager" if device.type == "cpu" else "graph"
    counts = _counts(shape, cache_bytes(device))
    needed, free = _needed(shape, counts), free_bytes(device)
    if needed > SPARE * free:
        return RestTimes(shape, mode, why_none=f"its weights would take {needed >> 20} MiB and {free >> 20} MiB are free")
    try:
        fused, apart = zip(*_visits(list(_parts(shape, counts, device)), device, timing, clock, warm))
    except torch.OutOfMemoryError:
        return RestTimes(shape, mode, why_none=f"the device ran out of memory; about {needed >> 20} MiB were to be used")
    return RestTimes(shape, mode, tuple(fused), tuple(apart))


def _counts(shape: StepShape, cache: int) -> list[int]:
    """Sets of weights to rotate over, of each layer kind and of the head: a step's other weights stream between two reads of one."""
    sizes = [shape.layer_bytes(kind) for kind in shape.layers]
    most = [kind.layers for kind in shape.layers]
    found = [min(layers, 2 + COLD * cache // size) for layers, size in zip(most, sizes)]
    return [*found, 2 + COLD * cache // shape.head_bytes]


def _needed(shape: StepShape, counts: list[int]) -> int:
    sizes = [*(shape.layer_bytes(kind) for kind in shape.layers), shape.head_bytes]
    routed = shape.touched * shape.expert_rows
    activations = 4 * shape.rows * shape.hidden + routed * (shape.hidden + 8 * shape.mlp_width) + 4 * shape.logit_rows * shape.vocab
    return sum(count * size for count, size in zip(counts, sizes)) + 4 * shape.element * activations


def _parts(shape: StepShape, counts: list[int], device: torch.device) -> Iterator[_Part]:
    for kind, count in zip(shape.layers, counts):
        held = [LayerWeights(shape, kind, device) for _ in range(count)]
        yield _Part(partial(LayerCall, shape, kind, held, device), count, kind.layers)
    yield _Part(partial(HeadCall, shape, heads(shape, counts[-1], device), device), counts[-1], 1)


def _visits(
    parts: list[_Part], device: torch.device, timing: TimingSpec, clock: SmClock | None, warm: Callable[[], bool]
) -> Iterator[tuple[float, float]]:
    """(fused, apart) of a whole step in ms, each pair in turn and then in reverse, so that drift cancels."""
    with ExitStack() as stack:
        timed = [[stack.enter_context(closing(_timed(part, fused, device, timing, clock))) for part in parts] for fused in (True, False)]
        while not warm():
            _step_ms(parts, timed[0])
        for visit in range(VISITS):
            order = (0, 1) if visit % 2 == 0 else (1, 0)
            found = {way: _step_ms(parts, timed[way]) for way in order}
            yield found[0], found[1]


def _timed(part: _Part, fused: bool, device: torch.device, timing: TimingSpec, clock: SmClock | None) -> Timed:
    call = part.make(fused)
    return WallCall(call, part.slots, timing) if device.type == "cpu" else ReplayedCall(call, part.slots, timing, clock=clock)


def _step_ms(parts: list[_Part], timed: list[Timed]) -> float:
    return sum(part.times * median(each.visit().us) for part, each in zip(parts, timed)) / US_PER_MS
