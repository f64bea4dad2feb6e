"""What each tool is given, with the tools and the device imitated."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.bench.peers.contest import nvbench
from tests.bench.peers.contest.prepared import Prepared
from tests.bench.peers.contest.run import timed
from tests.bench.peers.contest.tools import RECORDING, TOOLS
from tests.bench.peers.peers import PLAIN, TRACED

STAND: Any = SimpleNamespace(bench=SimpleNamespace(synchronize=lambda: None))


class Call:
    """Writes down what is done to it."""

    graph = True

    def __init__(self) -> None:
        self.log: list[str] = []

    @contextmanager
    def active(self) -> Iterator[None]:
        yield

    @contextmanager
    def capturing(self) -> Iterator[None]:
        self.log.append("capturing")
        yield
        self.log.append("captured")

    def plan(self) -> None:
        self.log.append("plan")

    def launch(self, slot: int) -> None:
        self.log.append(f"launch {slot}")


def prepared(graph: bool = True) -> tuple[Prepared, list[str]]:
    call = Call()
    recording: Any = SimpleNamespace(replay=lambda: call.log.append("replay")) if graph else None
    seat: Any = SimpleNamespace(call=call, slots=4)
    return Prepared(seat, recording, open_s=1.0, prepare_s=1.5), call.log


@pytest.fixture(autouse=True)
def libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each tool calls once and says that it took 0.02 ms."""

    def milliseconds(call: Any, **mode: bool) -> float:
        call()
        return 0.02

    def times(call: Any, **mode: bool) -> list[float]:
        call()
        return [0.01, 0.02, 9.0]

    def module(name: str, **content: Any) -> None:
        made = ModuleType(name)
        made.__dict__.update(content)
        monkeypatch.setitem(sys.modules, name, made)

    module("triton")
    module("triton.testing", do_bench=milliseconds, do_bench_cudagraph=milliseconds)
    module("flashinfer")
    module("flashinfer.testing", bench_gpu_time=times)


@pytest.mark.parametrize("tool", ["do_bench", "flashinfer_events"])
def test_a_decode_call_is_timed_as_the_engine_replays_it(tool: str) -> None:
    ready, log = prepared()
    assert timed(tool, ready, 2, STAND)["us"] == [20.0, 20.0]
    assert log == ["plan", "replay"] * 2


@pytest.mark.parametrize("tool", ["do_bench_cudagraph", "flashinfer_cudagraph"])
def test_a_tool_that_records_by_itself_gets_the_launch_over_the_true_lengths(tool: str) -> None:
    ready, log = prepared()
    said = timed(tool, ready, 1, STAND)
    assert said["us"] == [20.0]
    assert log == ["capturing", "plan", "launch 3", "captured"]
    assert said["prepare_s"] == 1.0


def test_a_prefill_call_is_launched() -> None:
    ready, log = prepared(graph=False)
    assert timed("do_bench", ready, 1, STAND)["prepare_s"] == 1.5
    assert log == ["plan", "launch 3"]


def test_what_a_tool_cannot_do_is_a_reading_without_a_time() -> None:
    ready, _ = prepared()
    said = timed("flashinfer_cupti", ready, 1, STAND)
    assert said["us"] == []
    assert said["error"].startswith("ModuleNotFoundError: No module named 'cupti'")


def test_every_tool_that_is_asked_for_is_there() -> None:
    assert {*PLAIN, *TRACED} <= set(TOOLS)
    assert set(TOOLS) >= RECORDING


def test_cuda_bench_says_its_means_in_seconds_by_case() -> None:
    summaries = [{"tag": nvbench.MEAN, "data": [{"name": "value", "type": "float64", "value": "1.25e-05"}]}, {"tag": "other", "data": []}]
    states = [{"axis_values": [{"name": "case", "type": "string", "value": "fa3/p1 on c"}], "summaries": summaries}]
    assert nvbench.means_us({"benchmarks": [{"states": states}]}) == {"fa3/p1 on c": pytest.approx(12.5)}
