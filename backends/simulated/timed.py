"""A simulated call as it is timed: samples out of the model or the recording, on a clock that only they move."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from backends.cell import PageLayout, kv_bytes
from backends.dtypes import element_bytes
from backends.memory import GraphMemory
from backends.simulated.guarded import sm_clock_mhz
from backends.simulated.world import Misfortune
from backends.timing.pace import eager_pace, graph_pace
from backends.timing.sampled import Manner, Sampled

if TYPE_CHECKING:
    from backends.cell import Cell
    from backends.measured import KernelNode
    from backends.simulated.bench import SimulatedBench
    from backends.simulated.driver import SimulatedCall
    from backends.spec import TimingSpec

CAPTURE_S = 0.1
GRAPH_BYTES, OUTPUT_BYTES = 18 << 20, 2 << 20
SPACER_US = 1.2
TOO_FAST = 2.0  # times what the memory gives, where a cache is warm
OVERLAP = 1.1  # with a kernel between two launches that else overlap
CROWDED, SCATTERED = 1.25, 1.5
PENALTY = 1.2  # of a launch in a graph that would do better without


class SimulatedTimed:
    """See `backends.timing.timed.Timed`. ``graph``: whether one was recorded."""

    def __init__(self, call: SimulatedCall, graph: bool, slots: int, timing: TimingSpec, manner: Manner, bench: SimulatedBench) -> None:
        self.mode = "graph" if graph else "eager"
        self.memory = GraphMemory(GRAPH_BYTES, OUTPUT_BYTES) if graph else None
        self.spacer_us = self._between_us(call.cell, bench) if graph and manner.spaced else None
        self.slots = slots
        self._call = call
        self._manner = manner
        self._bench = bench
        call_us = bench.times.call_us(call.arm, call.cell)
        paced = graph_pace(call_us, slots, timing, manner.least) if graph else eager_pace(call_us, timing, manner.least)
        self.pace = manner.whole(paced)
        bench.spend(CAPTURE_S)
        bench.allocate(self._live_bytes)

    @staticmethod
    def _between_us(cell: Cell, bench: SimulatedBench) -> float:
        """Of what stands between two launches: weights where they stream there, else a small kernel."""
        size_bytes = bench.streamed.get(cell.name)
        return SPACER_US if size_bytes is None else size_bytes / (bench.world.board.bandwidth_bytes_per_s or 1.0) * 1e6

    @property
    def nodes(self) -> tuple[KernelNode, ...]:
        return self._call.nodes(self.mode) if self.mode == "graph" else ()

    @property
    def only_kernels(self) -> bool:
        return self.mode == "graph"

    @property
    def written(self) -> range:
        return range(self.slots - 1, self.slots)

    def shot(self) -> Any:
        self._call.plan()
        return self.run_once()

    def run_once(self) -> Any:
        slot = self.slots - 1
        return self._call.replay(slot) if self.mode == "graph" else self._call.launch(slot)

    def visit(self) -> Sampled:
        bench, arm, cell = self._bench, self._call.arm, self._call.cell
        bench.misfortunes.at_visit(arm, cell)
        if (xid := bench.misfortunes.here(Misfortune.XID, arm, cell)) is not None and xid.backend is not None:
            bench.lost = "CUDA error: an illegal memory access was encountered"
        self._call.plan()
        bench.synchronize()
        at_s = bench.now()
        us = bench.times.visit_us(arm, cell, self.pace.discards + self.pace.replays, at_s)
        us = tuple(each * self._factor() for each in us)
        if bench.misfortunes.here(Misfortune.WARM_CACHE, arm, cell):
            us = (self._impossible_us(),) * len(us)
        bench.spend(sum(us) * self.pace.launches * 1e-6)
        samples = us[self.pace.discards :]
        return Sampled(samples, self._served_beside(samples), sm_clock_mhz(bench, at_s))

    def served_us(self) -> float | None:
        return None if self.mode == "graph" else self._bench.times.served_us(self._call.arm, self._call.cell)

    def _served_beside(self, samples: tuple[float, ...]) -> float | None:
        """Varies as the samples of its visit do."""
        arm, cell, times = self._call.arm, self._call.cell, self._bench.times
        served_us = None if self.mode == "graph" else times.visit_served_us(arm, cell)
        return None if served_us is None else served_us * median(samples) / times.call_us(arm, cell)

    def close(self) -> None:
        self._bench.allocate(-self._live_bytes)

    @property
    def _live_bytes(self) -> int:
        return 0 if self.memory is None else GRAPH_BYTES

    def _factor(self) -> float:
        overlaps = self.spacer_us is not None and self._meets(Misfortune.OVERLAPS)
        penalised = self.mode == "graph" and self._meets(Misfortune.GRAPH_PENALTY)
        slowed = 1 + self._manner.extra(self.pace.launches) / self.pace.launches
        return slowed * (OVERLAP if overlaps else 1.0) * (PENALTY if penalised else 1.0) * self._elsewhere()

    def _elsewhere(self) -> float:
        """Of conditions that a race leaves out."""
        cell = self._call.cell
        crowded = self.spacer_us is not None and cell.name in self._bench.streamed and self._meets(Misfortune.CROWDED)
        scattered = cell.page_layout is PageLayout.RANDOM and self._meets(Misfortune.SCATTERED)
        return (CROWDED if crowded else 1.0) * (SCATTERED if scattered else 1.0)

    def _meets(self, kind: Misfortune) -> bool:
        return self._bench.misfortunes.here(kind, self._call.arm, self._call.cell) is not None

    def _impossible_us(self) -> float:
        size = kv_bytes(self._call.cell, element_bytes(self._call.arm.kv_dtype))
        return size / (TOO_FAST * (self._bench.world.board.bandwidth_bytes_per_s or 1.0)) * 1e6
