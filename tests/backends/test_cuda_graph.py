from __future__ import annotations

import ctypes
from dataclasses import replace
from typing import Any

import pytest

from backends.cuda_calls import CudaRefused
from backends.cuda_graph import ATTRIBUTES, LaunchParameters, described, recorded_launches, records_only_kernels
from backends.measured import Identity, KernelNode, code_id
from tests.backends.fake_cuda import INVALID_VALUE, SUCCESS, fill, install

KERNEL, MEMSET = 0, 2
NODES = {0xA1: (KERNEL, 0xF1, 0), 0xA2: (MEMSET, 0, 0), 0xA3: (KERNEL, 0, 0xE2)}  # kind, function, kernel
NAMES = {0xF1: b"_Z6decodev", 0xF2: b"_Z5mergev"}


def info(status: Any, number: Any, graph: Any, *rest: Any, capturing: bool = True) -> int:
    fill(status, int(capturing))
    fill(graph, 0x61)
    return SUCCESS


def nodes_of(graph: Any, nodes: Any, count: Any) -> int:
    assert graph.value == 0x61
    fill(count, len(NODES))
    for place, node in enumerate(NODES if nodes is not None else ()):
        nodes[place] = node
    return SUCCESS


def kind_of(node: int, kind: Any) -> int:
    fill(kind, NODES[node][0])
    return SUCCESS


def parameters_of(node: int, parameters: Any) -> int:
    found = parameters._obj
    found.func, found.kern = NODES[node][1:]
    found.grid, found.block, found.shared_bytes = (ctypes.c_uint * 3)(132, 8, 1), (ctypes.c_uint * 3)(128, 1, 1), 4096
    return SUCCESS


def function_of(function: Any, kernel: int) -> int:
    fill(function, {0xE2: 0xF2}[kernel])
    return SUCCESS


def name_of(text: Any, function: ctypes.c_void_p) -> int:
    text._obj.value = NAMES[function.value or 0]
    return SUCCESS


def attribute_of(value: Any, number: int, function: Any) -> int:
    fill(value, 10 * number)
    return SUCCESS


WHOLE = {
    "cuStreamGetCaptureInfo_v2": lambda stream, *found: info(*found),
    "cuGraphGetNodes": nodes_of,
    "cuGraphNodeGetType": kind_of,
    "cuGraphKernelNodeGetParams_v2": parameters_of,
    "cuKernelGetFunction": function_of,
    "cuFuncGetName": name_of,
    "cuFuncGetAttribute": attribute_of,
}
NODE = KernelNode("_Z6decodev", (132, 8, 1), (128, 1, 1), 4096, tuple(10 * number for number in ATTRIBUTES))


def test_the_kernels_of_a_recording_are_told_in_their_order_and_nothing_else_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, **WHOLE)
    assert described(recorded_launches(7)) == (NODE, replace(NODE, name="_Z5mergev"))


def test_a_memset_among_the_kernels_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, **WHOLE)
    assert not records_only_kernels(7)
    monkeypatch.delitem(NODES, 0xA2)
    assert records_only_kernels(7)


def test_a_driver_that_knows_only_the_newer_call_is_asked_by_that(monkeypatch: pytest.MonkeyPatch) -> None:
    newer = {**WHOLE, "cuStreamGetCaptureInfo_v3": WHOLE["cuStreamGetCaptureInfo_v2"]}
    del newer["cuStreamGetCaptureInfo_v2"]
    install(monkeypatch, **newer)
    assert len(recorded_launches(7)) == 2


def test_a_stream_that_records_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, **{**WHOLE, "cuStreamGetCaptureInfo_v2": lambda stream, *found: info(*found, capturing=False)})
    with pytest.raises(CudaRefused, match="the stream records no graph"):
        recorded_launches(7)


def test_an_older_driver_that_tells_no_names_is_refused_after_the_recording(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, **{**WHOLE, "cuFuncGetName": lambda *_: INVALID_VALUE})
    launches = recorded_launches(7)
    with pytest.raises(CudaRefused, match="cuFuncGetName"):
        described(launches)


def test_parameters_have_the_drivers_layout() -> None:
    """As a C compiler lays out CUDA_KERNEL_NODE_PARAMS_v2 of cuda.h 13.0."""
    assert ctypes.sizeof(LaunchParameters) == 72
    offsets = {"func": 0, "grid": 8, "block": 20, "shared_bytes": 32, "kern": 56, "ctx": 64}
    assert {name: getattr(LaunchParameters, name).offset for name in offsets} == offsets


def test_a_code_id_stands_for_kernels_and_what_became_of_them_not_for_their_grids() -> None:
    known = code_id([NODE])
    assert known == code_id([replace(NODE, grid=(1, 1, 1), shared_bytes=0)])
    assert known != code_id([replace(NODE, code=(*NODE.code[:-1], 90))])
    assert known != code_id([replace(NODE, name="other")]) != code_id([NODE, NODE])
    assert code_id(()) is None


def test_an_identity_of_an_early_run_has_no_nodes() -> None:
    assert Identity("fa3", "graph", ("kernel",)).nodes == ()
