"""The peers, each as its documentation says it is called. A tool takes a prepared call and returns microseconds."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from statistics import median
from typing import Any

from backends.timing.cuda_events import hold_back

from .prepared import Call, Prepared

US_PER_MS = 1000.0
SPAN_WARM_UPS, SPAN_CALLS, SPAN_DELAY_S = 3, 10, 5e-3  # flashinfer.autotuner.AutoTuner: warmup, repeat, stream_delay_micro_secs
REPLAY_WARM_UPS, REPLAYS = 3, 20

Tool = Callable[[Prepared], float]


def do_bench(prepared: Prepared) -> float:
    from triton.testing import do_bench as tool

    with prepared.as_served() as call:
        return US_PER_MS * float(tool(call))


def do_bench_cudagraph(prepared: Prepared) -> float:
    from triton.testing import do_bench_cudagraph as tool

    with prepared.to_record() as call:
        return US_PER_MS * float(tool(call))


def flashinfer_events(prepared: Prepared) -> float:
    with prepared.as_served() as call:
        return _flashinfer(call)


def flashinfer_cudagraph(prepared: Prepared) -> float:
    with prepared.to_record() as call:
        return _flashinfer(call, use_cuda_graph=True)


def flashinfer_cupti(prepared: Prepared) -> float:
    _require_cupti()
    with prepared.as_served() as call:
        return _flashinfer(call, enable_cupti=True)


def flashinfer_cupti_cudagraph(prepared: Prepared) -> float:
    _require_cupti()
    with prepared.to_record() as call:
        return _flashinfer(call, enable_cupti=True, use_cuda_graph=True)


def span(prepared: Prepared) -> float:
    """The rule of FlashInfer's autotuner: warm-up calls, a delay so that the host gets ahead, one span over all calls."""
    with prepared.as_served() as call:
        return _span_us(call, SPAN_WARM_UPS, SPAN_CALLS, SPAN_DELAY_S)


def replays(prepared: Prepared) -> float:
    """AIConfigurator's collector: replays of a recorded call, their mean. What the engine launches eagerly is recorded for it."""
    import torch

    if prepared.recording is not None:
        with prepared.as_served() as call:
            return _span_us(call, REPLAY_WARM_UPS, REPLAYS, 0.0)
    with prepared.to_record() as call:
        call()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            call()
        return _span_us(graph.replay, REPLAY_WARM_UPS, REPLAYS, 0.0)


def drawn(prepared: Prepared) -> float:
    """Of a simulated GPU, which no tool can time: one visit of ours."""
    return median(prepared.seat.timed.visit().us)


def _flashinfer(call: Call, **mode: bool) -> float:
    from flashinfer.testing import bench_gpu_time

    return US_PER_MS * float(median(bench_gpu_time(call, **mode)))


def _require_cupti() -> None:
    """Without it `bench_gpu_time` times something else and only warns."""
    from cupti import cupti  # noqa: F401

    if int(version("cupti-python").partition(".")[0]) < 13:
        raise ImportError(f"cupti-python {version('cupti-python')} is older than 13")


def _span_us(call: Call, warm_ups: int, calls: int, delay_s: float) -> float:
    import torch

    cuda: Any = torch.cuda
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    for _ in range(warm_ups):
        call()
    cuda.synchronize()
    if delay_s:
        hold_back(delay_s)
    start.record()
    for _ in range(calls):
        call()
    end.record()
    cuda.synchronize()
    return US_PER_MS * float(start.elapsed_time(end)) / calls


TOOLS: dict[str, Tool] = {
    tool.__name__: tool
    for tool in (
        *(do_bench, do_bench_cudagraph, flashinfer_events, flashinfer_cudagraph, span, replays),
        *(flashinfer_cupti, flashinfer_cupti_cudagraph, drawn),
    )
}
RECORDING = frozenset({"do_bench_cudagraph", "flashinfer_cudagraph", "flashinfer_cupti_cudagraph"})  # by themselves
