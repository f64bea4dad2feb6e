"""Any arm, driven on the simulated GPU: no library, no output, the costs of opening, building and planning."""

from __future__ import annotations

import zlib
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from backends.deviation import known_on
from backends.measured import KernelNode, Soundness
from backends.simulated.world import Misfortune

if TYPE_CHECKING:
    from backends.arm import Arm
    from backends.driver import CellData, Stage
    from backends.simulated.bench import SimulatedBench

OPEN_S, BUILD_S = 0.5, 0.05
WORKSPACE_BYTES, CALL_BYTES = 128 << 20, 4 << 20
GRID, PENALISED_GRID, BLOCK = (132, 1, 1), (528, 1, 1), (128, 1, 1)
DOUBTFUL = (1.05, 0.95, 1.1)  # of `Soundness`: rotation, slope, spaced
WRONG = (Misfortune.NANS, Misfortune.LOST_KEY, Misfortune.UNWRITTEN)


@dataclass(frozen=True)
class Answer:
    """What a call put out: right, wrong in one way, or nothing, for which a check waits for good. ``window``: how many keys of a
    windowed layer its queries saw."""

    wrong: Misfortune | None
    window: int | None = None


class SimulatedDriver:
    """See `backends.driver.Driver`."""

    def __init__(self, arm: Arm, stage: Stage, bench: SimulatedBench) -> None:
        self.imports = arm.packages
        self._arm = arm
        self._stage = stage
        self._bench = bench
        bench.spend(OPEN_S)
        bench.misfortunes.at_opening(arm)
        bench.allocate(WORKSPACE_BYTES)

    def prepare(self, data: CellData) -> SimulatedCall:
        return SimulatedCall(self._arm, data, self._stage, self._bench)

    def close(self) -> None:
        self._bench.allocate(-WORKSPACE_BYTES)


class SimulatedCall:
    """See `backends.driver.PreparedCall`."""

    def __init__(self, arm: Arm, data: CellData, stage: Stage, bench: SimulatedBench) -> None:
        self.arm = arm
        self.cell = data.cell
        self._bench = bench
        misfortunes, cell, largest = bench.misfortunes, data.cell, stage.graph_max_batch
        misfortunes.at_call(arm, cell)
        captured = cell.generates and (largest is None or cell.padded_batch <= largest)
        self.graph = captured and arm.backend not in bench.world.eager
        slow = misfortunes.here(Misfortune.SLOW_BUILD, arm, cell)
        bench.spend(BUILD_S if slow is None else slow.seconds)
        bench.allocate(CALL_BYTES)

    @property
    def resolved(self) -> str:
        return "simulated"

    @property
    def kernels(self) -> tuple[str, ...]:
        return (f"simulated_{self.arm.backend}_{self.cell.phase.value}",)

    def nodes(self, mode: str) -> tuple[KernelNode, ...]:
        grid = PENALISED_GRID if mode == "graph" and self._meets(Misfortune.GRAPH_PENALTY) else GRID
        code = (int(self._meets(Misfortune.OTHER_KERNEL)), *self._releases)
        return tuple(KernelNode(name, grid, BLOCK, 0, code) for name in self.kernels)

    @property
    def _releases(self) -> tuple[int, ...]:
        """Another release of what the arm imports is other machine code."""
        versions = sorted((each.module, each.version) for each in self._bench.world.packages if each.module in self.arm.packages)
        return tuple(zlib.crc32(repr(each).encode()) for each in versions)

    @property
    def soundness(self) -> Soundness:
        doubts = (Misfortune.PARTLY_WARM, Misfortune.UNEVEN, Misfortune.OVERLAPS)
        return Soundness(*(ratio if self._meets(kind) else 1.0 for kind, ratio in zip(doubts, DOUBTFUL)))

    def plan(self) -> None:
        host_us, idle_us = self._bench.times.metadata_us(self.arm, self.cell)
        self._bench.spend(host_us * 1e-6)
        self._bench.queue((idle_us - host_us) * 1e-6)

    def capturing(self) -> AbstractContextManager[None]:
        return nullcontext()

    def launch(self, slot: int) -> Any:
        self._bench.spend(self._bench.times.call_us(self.arm, self.cell) * 1e-6)
        if self._bench.misfortunes.hangs("checking", self.arm, self.cell):
            return Answer(Misfortune.HANG)
        return Answer(next(filter(self._meets, WRONG), None), self._window)

    def replay(self, slot: int) -> Answer:
        """As a graph's last launch."""
        answer: Answer = self.launch(slot)
        return replace(answer, wrong=Misfortune.STALE_GRAPH) if self._meets(Misfortune.STALE_GRAPH) else answer

    @property
    def _window(self) -> int | None:
        """As is declared of the backend, unless it was mended."""
        declared = None if self._meets(Misfortune.MENDED) else known_on(self.arm.deviations, self.cell)
        window = (declared.applied(self.cell) if declared else self.cell).layer.sliding_window
        return window if window is None else window - self._meets(Misfortune.SHORT_WINDOW)

    def active(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        self._bench.allocate(-CALL_BYTES)

    def _meets(self, kind: Misfortune) -> bool:
        return self._bench.misfortunes.here(kind, self.arm, self.cell) is not None
