"""The bench of a simulated GPU: see `backends.bench`."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from backends.anchored import Anchors
from backends.arm import Arm
from backends.cell import Cell
from backends.driver import CellData, KvPool, Stage
from backends.dtypes import element_bytes
from backends.measured import Identity, KernelNode, Soundness
from backends.memory import Reading
from backends.simulated.anchors import CODE, anchors_of
from backends.simulated.checker import SimulatedChecker
from backends.simulated.driver import SimulatedDriver
from backends.simulated.environment import STRANGERS_BYTES
from backends.simulated.guarded import SimulatedSentry, reading
from backends.simulated.misfortunes import Misfortunes
from backends.simulated.modelled import Modelled
from backends.simulated.recorded import Recorded
from backends.simulated.step import rest_of_step
from backends.simulated.timed import SimulatedTimed
from backends.simulated.world import Misfortune, World
from backends.timing.lookout import Lookout
from backends.timing.roofline import MARGIN, Implausible, Limits
from backends.timing.sampled import PLAIN

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Mapping

    from backends.deviation import Deviation
    from backends.kv.rotation import PoolPlan
    from backends.model import LayerKind
    from backends.simulated.times import Times
    from backends.spec import TimingSpec
    from backends.step.shape import RestTimes, StepShape
    from backends.timing.sampled import Manner

CONTEXT_BYTES = 1 << 30  # of the GPU's memory, before anything is allocated
OPEN_S, POOL_S = 8.0, 2.0  # importing an engine and starting CUDA; filling the pools


class SimulatedBench:
    """Nothing sleeps: what would take time moves the bench's own clock. ``seed`` draws this process's noise.

    Device memory is counted, not taken; ``allocated_bytes`` is what lives there just now. ``streamed`` as in `backends.spec.StageSpec`.
    """

    type = "cuda"

    def __init__(self, world: World, seed: int, streamed: Mapping[str, int] | None = None) -> None:
        self.world = world
        self.streamed = dict(streamed or {})
        self.times: Times = Modelled(world, seed) if world.recorded is None else Recorded(world, seed)
        self.misfortunes = Misfortunes(world.faults, self.now)
        self.lost: str | None = None
        self.allocated_bytes = 0
        self._peak_bytes = 0
        self._now_s = 0.0
        self._queued_s = 0.0

    def now(self) -> float:
        return self._now_s

    def spend(self, seconds: float) -> None:
        self._now_s += seconds

    def queue(self, seconds: float) -> None:
        """Work that goes on beside the host until `synchronize`."""
        self._queued_s += seconds

    def allocate(self, size_bytes: int) -> None:
        """Negative to give back."""
        self.allocated_bytes += size_bytes
        self._peak_bytes = max(self._peak_bytes, self.allocated_bytes)

    def taken_bytes(self) -> int | None:
        stranger = self.world.telling and self.misfortunes.here(Misfortune.FOREIGN_PROCESS) is not None
        return STRANGERS_BYTES if stranger else None

    def open(self) -> str:
        self.spend(OPEN_S)
        return self.world.board.name

    def working(self) -> AbstractContextManager[None]:
        return nullcontext()

    def synchronize(self) -> None:
        self.spend(self._queued_s)
        self._queued_s = 0.0
        if self.lost is not None:
            raise RuntimeError(self.lost)

    def release(self) -> None:
        """Nothing is kept."""

    def keep(self) -> None:
        """Nothing is looked through."""

    def free_bytes(self) -> int:
        return (self.world.board.memory_bytes or 0) - CONTEXT_BYTES - self.allocated_bytes

    def cache_bytes(self) -> int:
        return self.world.board.l2_bytes or 0

    def limit_memory(self, budget_bytes: int) -> None:
        """Nobody takes more than is counted."""

    def held(self) -> Reading:
        return lambda: self.allocated_bytes

    def restart_peak(self) -> None:
        self._peak_bytes = self.allocated_bytes

    def peak_bytes(self) -> int:
        return self._peak_bytes

    def limits(self, dtype: str) -> SimulatedLimits:
        return SimulatedLimits(self.world)

    def build_pool(self, plan: PoolPlan, layer: LayerKind, seed: int) -> KvPool:
        """Of the right size, with nothing in it."""
        token_bytes = layer.cached_width * element_bytes(plan.kv_dtype)
        self.allocate(plan.slots * (plan.pool_tokens + plan.page_size) * token_bytes)
        self.spend(POOL_S)
        nothing: list[Any] = [None] * plan.slots
        return KvPool(plan.page_size, plan.pool_tokens, nothing, nothing)

    def lay_out(self, cell: Cell, pool: KvPool, context_length: int) -> CellData:
        nothing: Any = None
        return CellData(cell, pool, nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing)

    def ballast(self, rng: random.Random) -> NoBallast:
        return NoBallast()

    def open_driver(self, arm: Arm, stage: Stage, pool: KvPool) -> SimulatedDriver:
        return SimulatedDriver(arm, stage, self)

    def timed(self, call: Any, data: CellData, slots: int, timing: TimingSpec, manner: Manner) -> SimulatedTimed:
        self.misfortunes.hang("capturing", call.arm, call.cell)
        return SimulatedTimed(call, call.graph, slots, timing, manner, self)

    def eagerly(self, call: Any, slots: int, timing: TimingSpec) -> SimulatedTimed:
        return SimulatedTimed(call, False, slots, timing, PLAIN, self)

    def soundness(self, call: Any, timed: Any, pools: int, timing: TimingSpec) -> Soundness | None:
        return call.soundness if timed.mode == "graph" else None

    def checker(self, data: CellData, slot: int, soft_cap: float | None, deviation: Deviation | None) -> SimulatedChecker:
        return SimulatedChecker(data.cell, slot, self.spend, deviation)

    def launches(self, call: Any, timed: Any) -> tuple[KernelNode, ...]:
        waits = timed.mode == "eager" and self.misfortunes.here(Misfortune.WAITS, call.arm, call.cell)
        return () if waits else tuple(call.nodes(timed.mode))

    def identify(self, call: Any, timed: Any) -> Identity:
        return Identity(call.resolved, timed.mode, call.kernels, call.nodes(timed.mode))

    def autotuned(self) -> tuple[tuple[str, str], ...]:
        return ()

    def anchors(self, dtype: str, timing: TimingSpec, code: bytes | None) -> tuple[Anchors, bytes | None]:
        return anchors_of(self), code or CODE

    def rest_times(self, shape: StepShape, timing: TimingSpec, warm: Callable[[], bool]) -> RestTimes:
        return rest_of_step(self, shape)

    def lookout(self) -> Lookout:
        sentry: Any = SimulatedSentry(self)
        return Lookout(lambda: reading(self, self.now()), sentry)

    def rest(self, seconds: float) -> None:
        self.spend(seconds)


class SimulatedLimits:
    """The board's figures, as if they had been measured."""

    def __init__(self, world: World) -> None:
        self._limits = Limits(world.board.bandwidth_bytes_per_s or 0.0, world.peak_flops, MARGIN["cuda"])

    def require_plausible(self, cell: Cell, kv_element_bytes: float, sample_us: Iterable[float]) -> None:
        fastest_us = min(sample_us)
        if objection := self._limits.objection(cell, kv_element_bytes, fastest_us):
            raise Implausible(f"a sample of {fastest_us:.1f} us means {objection}")


class NoBallast:
    """Where nothing is allocated nothing can be moved."""

    def add(self) -> None: ...

    def drop(self) -> None: ...
