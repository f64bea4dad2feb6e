"""One CUDA graph of many launches of a call, and what is known of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from backends.cuda_calls import CudaRefused
from backends.cuda_graph import LaunchParameters, described, recorded_launches, records_only_kernels
from backends.measured import KernelNode
from backends.memory import GraphMemory, Growth, held, taken
from backends.timing.garbage import left_lying

if TYPE_CHECKING:
    import torch

    from backends.driver import PreparedCall
    from backends.timing.spacer import Filler

WARM_UPS = 2


class Recording:
    """Launches on the pool slots ``order``, in that order, each followed by ``spacer`` where there is one.

    ``output`` is that of the last launch; earlier outputs give their memory to the next, as layers do. ``nodes`` are the
    kernels of the first, empty where the driver does not tell; ``only_kernels``: it is surely nothing else. Raises what the
    first launches raise.
    """

    def __init__(self, call: PreparedCall, order: Sequence[int], spacer: Filler | None = None) -> None:
        import torch

        cuda: Any = torch.cuda  # its streams have no types
        device, stream = torch.device("cuda", torch.cuda.current_device()), cuda.Stream()
        self._graph = torch.cuda.CUDAGraph()
        self._first: tuple[LaunchParameters, ...] = ()
        self.only_kernels = False
        with call.active(), call.capturing():
            _warm_up(call, stream, order)
            # Recording gives back what the allocator had kept for later, and the graph's own pool would be set off against it.
            torch.cuda.empty_cache()
            taken_more, held_more = Growth(taken(device)), Growth(held(device))
            with _first_error(), left_lying(), torch.cuda.graph(self._graph, stream=stream):  # a dead graph's end spoils a recording
                self.output = self._launch_all(call, order, spacer, stream.cuda_stream)
            self.memory = GraphMemory(taken_more.bytes, held_more.bytes)
        self.nodes = self._described()

    def replay(self) -> None:
        self._graph.replay()

    def close(self) -> None:
        self._graph.reset()

    def _launch_all(self, call: PreparedCall, order: Sequence[int], spacer: Filler | None, stream: int) -> torch.Tensor:
        for number, slot in enumerate(order):
            output = call.launch(slot)
            if number == 0:
                with suppress(CudaRefused):
                    self._first = recorded_launches(stream)
                    self.only_kernels = records_only_kernels(stream)
            if spacer is not None:
                spacer.put()
        return output

    def _described(self) -> tuple[KernelNode, ...]:
        try:
            return described(self._first)
        except CudaRefused:
            return ()


def _warm_up(call: PreparedCall, stream: Any, order: Sequence[int]) -> None:
    """First launches may build kernels or allocate, which a recording stream must not."""
    import torch

    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        for slot in order[:WARM_UPS]:
            call.launch(slot)
    torch.cuda.synchronize()


@contextmanager
def _first_error() -> Iterator[None]:
    """An error inside a recording makes ending it fail as well; the first one says what is wrong."""
    try:
        yield
    except RuntimeError as error:
        raise error.__context__ or error from None
