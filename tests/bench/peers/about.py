"""What each contestant does and what it leaves out, in words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class About:
    does: str
    omits: str


ONE = "one process, one arm after the other, no interval and no tie, no look at the answers"
ABOUT = {
    "quick": About("attnpin tune's rules, at most 4 processes", "where a pick may be wrong by less than its margin, the default stays"),
    "gate": About("the same, at most 8 processes", "as above"),
    "do_bench": About(
        "triton.testing.do_bench: events around each of some hundred calls, 256 MB written before each",
        f"a replay's or launch's own start is in the time; leaves dirty cache lines; warms up without the flush; {ONE}",
    ),
    "do_bench_cudagraph": About(
        "triton.testing.do_bench_cudagraph: 10 replays of some 20 ms of recorded calls",
        f"every call reads the same KV, warm where it fits the cache; no warm-up; {ONE}",
    ),
    "flashinfer_events": About(
        "flashinfer.testing.bench_gpu_time: events, twice the L2 written before each call, the median",
        f"a replay's or launch's own start is in the time; {ONE}",
    ),
    "flashinfer_cudagraph": About(
        "the same with use_cuda_graph: replays of 10 recorded calls",
        f"rotates tensors that are passed as arguments, which an engine's KV pool is not, so the KV is warm; {ONE}",
    ),
    "flashinfer_cupti": About(
        "the same with enable_cupti: kernel times as CUPTI traces them",
        f"waits for the device at each call, so that the clock rises; {ONE}",
    ),
    "flashinfer_cupti_cudagraph": About("the same with both, one call recorded", f"waits for the device at each call; {ONE}"),
    "span": About(
        "3 calls to warm up and a span over 10, as FlashInfer's autotuner is documented to do", f"every call reads the same KV; {ONE}"
    ),
    "replays": About("the mean of 20 replays after 3, as AIConfigurator's collector does", f"every call reads the same KV; {ONE}"),
    "nvbench": About("cuda-bench: cold calls until their spread is settled, throttled ones thrown away", f"warms up with one call; {ONE}"),
}
UNKNOWN = About("", "")


def about(name: str) -> About:
    return ABOUT.get(name, UNKNOWN)
