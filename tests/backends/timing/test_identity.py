from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from backends.measured import KernelNode, code_id
from backends.timing import demangled
from backends.timing.capture import ReplayedCall
from backends.timing.identity import Names, identify, launches_in, launches_of
from backends.timing.pace import Pace
from backends.timing.recorded_once import recorded_once
from backends.timing.timed import make_timed
from tests.backends.timing.test_cuda import SLOTS, TIMING, PlainCall, Recordable, cell_data


def event(name: str, ts: float, **args: Any) -> dict[str, Any]:
    details = {"grid": [132, 1, 1], "block": [128, 1, 1], "shared memory": 1024, "registers per thread": 168, **args}
    return {"ph": "X", "cat": "kernel", "name": name, "ts": ts, "args": details}


def test_a_trace_tells_kernels_in_the_order_they_ran() -> None:
    other = {"ph": "X", "cat": "gpu_memset", "name": "Memset", "ts": 1.0}
    found = launches_in([event("merge", 9.5), other, event("attend", 2.0, grid=[8, 4, 2])])
    assert found == (
        KernelNode("attend", (8, 4, 2), (128, 1, 1), 1024, (168,)),
        KernelNode("merge", (132, 1, 1), (128, 1, 1), 1024, (168,)),
    )


def test_a_trace_without_grids_tells_nothing() -> None:
    bare = {"ph": "X", "cat": "kernel", "name": "attend", "ts": 1.0, "args": {}}
    assert launches_in([bare]) == launches_in([]) == ()


@pytest.mark.parametrize("name", ["_fwd_kernel", "attnpin_copy_rows", "i", "_Zero"])
def test_a_name_that_is_none_of_cpp_is_left_as_it_is(name: str) -> None:
    assert demangled.demangled(name) == name


@pytest.mark.gpu
def test_the_kernels_of_a_recorded_call_are_the_same_in_two_recordings() -> None:
    data = cell_data()
    first, second = (make_timed(Recordable(data), data, SLOTS, TIMING) for _ in range(2))
    assert first.nodes and code_id(first.nodes) == code_id(second.nodes)
    assert all(node.name and min(node.grid) >= 1 and min(node.block) >= 1 and node.code[0] > 0 for node in first.nodes)
    for timed in (first, second):
        timed.close()


class Profiler:
    """Of a call of two kernels with a memset between, recorded twice."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, call: object, timed: object) -> Profiler:
        self.runs += 1
        return self

    def events(self) -> list[Any]:
        names = ["void attend<8>()", "Memset (Device)", "merge"] * 2
        ran = [profiled("CUDA", name, start) for start, name in enumerate(names)]
        return [*ran[::-1], profiled("CPU", "cudaGraphLaunch", 0)]


def profiled(device: str, name: str, start: int) -> Any:
    return SimpleNamespace(device_type=SimpleNamespace(name=device), name=name, time_range=SimpleNamespace(start=start))


def recorded(*names: str, only_kernels: bool = False) -> Any:
    nodes = tuple(KernelNode(name, (1, 1, 1), (1, 1, 1), 0, (1,)) for name in names)
    return SimpleNamespace(mode="graph", nodes=nodes, only_kernels=only_kernels, pace=Pace(2, 8, 1))


def test_the_profiler_is_shown_the_same_kernels_once(monkeypatch: pytest.MonkeyPatch) -> None:
    profiler, told = Profiler(), dict[Names, Names]()
    call: Any = SimpleNamespace(resolved="fa3")
    monkeypatch.setattr("backends.timing.identity._profiled", profiler)
    found = [identify(call, recorded(*names), torch.device("cuda"), told) for names in (("a", "b"), ("a", "b"), ("b", "a"))]
    assert {each.kernels for each in found} == {("void attend<8>()", "Memset (Device)", "merge")} and profiler.runs == 2
    assert [[node.name for node in each.nodes] for each in found] == [["a", "b"], ["a", "b"], ["b", "a"]]
    for _ in range(2):
        identify(call, recorded(), torch.device("cuda"), told)
    assert profiler.runs == 4  # what the driver tells nothing of is looked at each time


def test_the_profiler_is_not_asked_for_a_recording_of_kernels_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    profiler = Profiler()
    monkeypatch.setattr("backends.timing.identity._profiled", profiler)
    call: Any = SimpleNamespace(resolved="fa3")
    pure = recorded("_Z6attendILi8EEvv", "_fwd_kernel", only_kernels=True)
    assert identify(call, pure, torch.device("cuda"), {}).kernels == ("void attend<8>()", "_fwd_kernel") and profiler.runs == 0
    monkeypatch.setattr(demangled, "LIBRARY", "no-such-library.so")
    demangled._demangle.cache_clear()
    assert identify(call, pure, torch.device("cuda"), {}).kernels[1] == "Memset (Device)" and profiler.runs == 1
    demangled._demangle.cache_clear()


class Kernels(Recordable):
    """No copy and no memset, which products of matrices may bring."""

    def launch(self, slot: int) -> torch.Tensor:
        return torch.softmax(self.data.q.float(), dim=-1).to(self.data.q.dtype)


@pytest.mark.gpu
def test_the_driver_names_kernels_as_the_profiler_does(monkeypatch: pytest.MonkeyPatch) -> None:
    data = cell_data()
    timed = make_timed(Kernels(data), data, SLOTS, TIMING)
    assert isinstance(timed, ReplayedCall) and timed.only_kernels
    told = identify(timed._call, timed, torch.device("cuda"), {})
    monkeypatch.setattr(ReplayedCall, "only_kernels", False)
    assert identify(timed._call, timed, torch.device("cuda"), {}).kernels == told.kernels
    timed.close()


@pytest.mark.gpu
def test_the_driver_and_the_profiler_tell_of_the_same_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    data = cell_data()
    graphed, eager = make_timed(Recordable(data), data, SLOTS, TIMING), make_timed(PlainCall(data), data, SLOTS, TIMING)
    monkeypatch.setattr("backends.timing.identity.recorded_once", lambda call, slot: ())
    recorded, launched = (identify(call._call, call, torch.device("cuda"), {}) for call in (graphed, eager))  # type: ignore[attr-defined]
    assert 0 < len(recorded.nodes) <= len(recorded.kernels)  # copies and memsets are no kernels to the driver
    assert [(node.grid, node.block) for node in launched.nodes] == [(node.grid, node.block) for node in recorded.nodes]
    graphed.close()


@pytest.mark.gpu
def test_an_eager_call_has_the_kernels_of_the_same_call_recorded() -> None:
    data = cell_data()
    graphed, eager = make_timed(Recordable(data), data, SLOTS, TIMING), make_timed(PlainCall(data), data, SLOTS, TIMING)
    assert launches_of(eager._call, eager) == graphed.nodes != ()  # type: ignore[attr-defined]
    graphed.close()


class Waits(PlainCall):
    """Asks the device for a number before it launches."""

    def launch(self, slot: int) -> torch.Tensor:
        int(self.data.seq_lens.sum())
        return super().launch(slot)


class Refuses(PlainCall):
    def launch(self, slot: int) -> torch.Tensor:
        if torch.cuda.is_current_stream_capturing():
            raise ValueError("not inside a recording")
        return super().launch(slot)


@pytest.mark.gpu
@pytest.mark.parametrize("call", [Waits, Refuses])
def test_a_call_that_cannot_be_recorded_has_no_known_launches_and_goes_on_being_right(call: type[PlainCall]) -> None:
    data, stream = cell_data(), torch.cuda.current_stream()
    eager = call(data)
    before = eager.launch(0)
    assert recorded_once(eager, 0) == ()
    assert torch.cuda.current_stream() == stream and torch.cuda.get_sync_debug_mode() == 0
    assert torch.equal(eager.launch(0), before)
