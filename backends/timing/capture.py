"""Timing of what the engine captures: one CUDA graph of many launches, replayed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from backends.memory import GraphMemory, Growth, held, taken
from backends.timing.cuda_events import back_to_back_us
from backends.timing.pace import Pace, graph_pace, rotation

if TYPE_CHECKING:
    import torch

    from backends.driver import PreparedCall
    from backends.spec import TimingSpec

WARM_UPS = 2
FIRST_LOOKS = 3


class ReplayedCall:
    """See `backends.timing.timed.Timed`. Recorded twice: one rotation, to learn how long a call takes, then as many as make a replay."""

    mode = "graph"
    memory: GraphMemory | None = None

    def __init__(self, call: PreparedCall, slots: int, timing: TimingSpec) -> None:
        self.slots = slots
        self._call = call
        self.pace = Pace(slots, FIRST_LOOKS, 1)
        self._graph, self._output = self._record(slots)
        self.pace = graph_pace(min(self.visit()), slots, timing)
        if self.pace.launches != slots:
            self.close()
            self._graph, self._output = self._record(self.pace.launches)

    @property
    def written(self) -> range:
        return range(max(0, self.slots - self.pace.launches), self.slots)

    def shot(self) -> torch.Tensor:
        """A replay into an output full of NaN."""
        import torch

        with self._call.active():
            self._output.fill_(torch.nan)
            self._call.plan()
            return self.run_once()

    def run_once(self) -> torch.Tensor:
        self._graph.replay()
        return self._output

    def visit(self) -> tuple[float, ...]:
        """The metadata is made anew first: arms of one process may share the buffers it lies in."""
        with self._call.active():
            self._call.plan()
            times = back_to_back_us(self._graph.replay, self.pace.discards, self.pace.replays)
        return tuple(us / self.pace.launches for us in times)

    def served_us(self) -> float | None:
        return None

    def close(self) -> None:
        self._graph.reset()

    def _record(self, launches: int) -> tuple[Any, torch.Tensor]:
        """The graph, and the output of its last launch; earlier outputs give their memory to the next, as layers do."""
        import torch

        cuda: Any = torch.cuda  # its streams have no types
        order = rotation(launches, self.slots)
        stream = cuda.Stream()
        graph = torch.cuda.CUDAGraph()
        with self._call.active(), self._call.capturing():
            self._warm_up(stream, order)
            with self._weighing(), _first_error(), torch.cuda.graph(graph, stream=stream):
                for slot in order:
                    output = self._call.launch(slot)
        return graph, output

    @contextmanager
    def _weighing(self) -> Iterator[None]:
        """Sets ``memory`` to what was recorded inside. What the allocator had kept for later is given back first: recording
        does that too, and the graph's own pool would be set off against it."""
        import torch

        device = torch.device("cuda", torch.cuda.current_device())
        torch.cuda.empty_cache()
        grown = Growth(taken(device)), Growth(held(device))
        yield
        self.memory = GraphMemory(*(growth.bytes for growth in grown))

    def _warm_up(self, stream: Any, order: list[int]) -> None:
        """First launches may build kernels or allocate, which a recording stream must not."""
        import torch

        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            for slot in order[:WARM_UPS]:
                self._call.launch(slot)
        torch.cuda.synchronize()


@contextmanager
def _first_error() -> Iterator[None]:
    """An error inside a recording makes ending it fail as well; the first one says what is wrong."""
    try:
        yield
    except RuntimeError as error:
        raise error.__context__ or error from None
