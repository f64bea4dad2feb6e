"""The kernels of a call that is launched eagerly, as the driver knows them: it is recorded once for that alone and never replayed.

After everything that is timed, since a recording that fails leaves the allocator in another state.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from backends.cuda_graph import described, recorded_launches
from backends.measured import KernelNode
from backends.timing.garbage import left_lying

if TYPE_CHECKING:
    from backends.driver import PreparedCall


def recorded_once(call: PreparedCall, slot: int) -> tuple[KernelNode, ...]:
    """In launch order; empty where the call cannot be recorded, as one that waits for the device, and where the driver does not tell."""
    try:
        with call.active(), left_lying():
            call.plan()
            with _no_waiting():
                call.launch(slot)
            return _recorded(call, slot)
    except Exception:  # a library that is not made to be recorded may raise anything, and nothing hangs on it
        return ()


@contextmanager
def _no_waiting() -> Iterator[None]:
    """Torch raises where it would wait for the device: better here than in a recording."""
    import torch

    before = torch.cuda.get_sync_debug_mode()
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode(before)


def _recorded(call: PreparedCall, slot: int) -> tuple[KernelNode, ...]:
    """Without the collection that `torch.cuda.graph` begins with, which takes longer than all the rest."""
    import torch

    cuda: Any = torch.cuda  # its streams have no types
    stream, graph = cuda.Stream(), cuda.CUDAGraph()
    cuda.synchronize()
    with cuda.stream(stream):
        graph.capture_begin()
        try:
            call.launch(slot)
            launches = recorded_launches(stream.cuda_stream)
        finally:
            graph.capture_end()
    nodes = described(launches)
    graph.reset()
    return nodes
