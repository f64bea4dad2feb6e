"""What a stream has recorded so far, kernel by kernel, as the CUDA driver knows it.

The driver gives no machine code back. What tells one build of a kernel from another here is its name and what the compiler
made of it: registers, shared, local and constant memory, and the architecture it was built for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ctypes import Structure, byref, c_char_p, c_int, c_size_t, c_uint, c_ulonglong, c_void_p
from typing import Any

from backends.cuda_calls import CudaRefused, call
from backends.measured import KernelNode

CAPTURING = 1  # CUstreamCaptureStatus
KERNEL_NODE = 0  # CUgraphNodeType
# CUfunction_attribute: registers a thread, bytes of static shared, local and constant memory, architecture of the binary
ATTRIBUTES = (4, 1, 3, 2, 6)


class LaunchParameters(Structure):
    """CUDA_KERNEL_NODE_PARAMS_v2."""

    _fields_ = [
        ("func", c_void_p),
        ("grid", c_uint * 3),
        ("block", c_uint * 3),
        ("shared_bytes", c_uint),
        *[(name, c_void_p) for name in ("kernelParams", "extra", "kern", "ctx")],
    ]


def recorded_launches(stream: int) -> tuple[LaunchParameters, ...]:
    """The kernel launches that ``stream``, a CUDA handle, has recorded so far, in their order; only calls that a recording
    allows. Raises `CudaRefused`."""
    return tuple(_parameters(_nodes(_graph_being_recorded(stream))))


def records_only_kernels(stream: int) -> bool:
    """Whether all that ``stream`` has recorded so far are kernels: no copy, no memset, no call of the host. Raises `CudaRefused`."""
    return all(_kind(node) == KERNEL_NODE for node in _nodes(_graph_being_recorded(stream)))


def described(launches: Sequence[LaunchParameters]) -> tuple[KernelNode, ...]:
    """What was launched, for whoever no longer records. Raises `CudaRefused`."""
    return tuple(map(_kernel, launches))


def _graph_being_recorded(stream: int) -> c_void_p:
    status, number, graph, after, count = c_int(), c_ulonglong(), c_void_p(), c_void_p(), c_size_t()
    found = byref(status), byref(number), byref(graph), byref(after)
    try:
        call("cuStreamGetCaptureInfo_v2", stream, *found, byref(count))
    except CudaRefused:
        call("cuStreamGetCaptureInfo_v3", stream, *found, byref(c_void_p()), byref(count))
    if status.value != CAPTURING:
        raise CudaRefused("the stream records no graph")
    return graph


def _nodes(graph: c_void_p) -> Sequence[int]:
    count = c_size_t()
    call("cuGraphGetNodes", graph, None, byref(count))
    nodes = (c_void_p * count.value)()
    call("cuGraphGetNodes", graph, nodes, byref(count))
    return list(nodes)[: count.value]


def _kind(node: int) -> int:
    kind = c_int()
    call("cuGraphNodeGetType", node, byref(kind))
    return kind.value


def _parameters(nodes: Sequence[int]) -> Iterator[LaunchParameters]:
    for node in nodes:
        if _kind(node) == KERNEL_NODE:
            parameters = LaunchParameters()
            call("cuGraphKernelNodeGetParams_v2", node, byref(parameters))
            yield parameters


def _kernel(launch: LaunchParameters) -> KernelNode:
    function = c_void_p(launch.func)
    if not function.value:
        call("cuKernelGetFunction", byref(function), launch.kern)
    code = tuple(_attribute(function, number) for number in ATTRIBUTES)
    return KernelNode(_name(function), _axes(launch.grid), _axes(launch.block), launch.shared_bytes, code)


def _axes(values: Any) -> tuple[int, int, int]:
    x, y, z = values
    return x, y, z


def _name(function: c_void_p) -> str:
    text = c_char_p()
    call("cuFuncGetName", byref(text), function)
    return (text.value or b"").decode()


def _attribute(function: c_void_p, number: int) -> int:
    value = c_int()
    call("cuFuncGetAttribute", byref(value), number, function)
    return value.value
