"""The seam between how attnpin measures and the device it measures on.

`rounds`, `cell_round`, `trial` and `probe` are the protocol: which process does what in which order. They know no library
and no clock; whatever they need of a device they ask of their process's bench. There are two: `backends.torch_bench` for a
GPU or CPU, and `backends.simulated.bench`, which needs no library, sleeps nowhere and can be told to misbehave.

Whoever adds a measurement adds a method here, or a field to a record that one of these returns, and gives the simulated
device the fault that the measurement is there to find.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import random

    from backends.anchored import Anchors
    from backends.arm import Arm
    from backends.cell import Cell
    from backends.checks.tolerance import Errors
    from backends.deviation import Deviation
    from backends.driver import CellData, Driver, KvPool, PreparedCall, Stage
    from backends.kv.rotation import PoolPlan
    from backends.measured import Identity, KernelNode, Soundness
    from backends.memory import Reading
    from backends.model import LayerKind
    from backends.spec import StageSpec, TimingSpec
    from backends.step.shape import RestTimes, StepShape
    from backends.timing.lookout import Lookout
    from backends.timing.sampled import Manner
    from backends.timing.timed import Timed

Shot = Callable[[], Any]


class Plausibility(Protocol):
    """The device's limits, as it showed them in this process."""

    def require_plausible(self, cell: Cell, kv_element_bytes: float, sample_us: Iterable[float]) -> None:
        """Raises `Implausible` for a sample that is faster than the device can be."""


class Checking(Protocol):
    """Judges arms that share one laid-out cell; `backends.checks.checker.Checker` says how."""

    def check(self, shot: Shot, written: Iterable[int]) -> Errors: ...

    def check_needles(self, shot: Shot) -> float: ...

    @property
    def deviates(self) -> bool: ...

    def coverage(self) -> str | None: ...


class Padding(Protocol):
    """`backends.placement.Ballast`, or nothing."""

    def add(self) -> None: ...

    def drop(self) -> None: ...


class Bench(Protocol):
    """One process's device and instruments. ``type`` is "cuda" or "cpu": which rules of pools and settling hold."""

    type: str

    # the device: its clock, its queue, its memory

    def now(self) -> float:
        """Seconds of a clock that never goes back; works before `open`."""

    def taken_bytes(self) -> int | None:
        """Of the device's memory, asked before `open`: what others have. None = nothing worth mentioning, or nobody can tell."""

    def open(self) -> Any:
        """What drivers are handed as `Stage.device`. Raises RuntimeError without the device."""

    def working(self) -> AbstractContextManager[object]:
        """Entered around all that runs on the device."""

    def synchronize(self) -> None:
        """Wait until the queue is empty. Raises RuntimeError where a faulty kernel took the device's context with it."""

    def release(self) -> None:
        """Give back what is no longer referenced."""

    def keep(self) -> None:
        """`release`; what is still there stays until the process ends, and later releases do not look through it."""

    def free_bytes(self) -> int: ...

    def cache_bytes(self) -> int: ...

    def limit_memory(self, budget_bytes: int) -> None: ...

    def held(self) -> Reading:
        """Reads the bytes of what lives on the device; None where nobody counts them, as on a CPU."""

    def restart_peak(self) -> None: ...

    def peak_bytes(self) -> int: ...

    # what arms stand on

    def limits(self, dtype: str) -> Plausibility: ...

    def build_pool(self, plan: PoolPlan, layer: LayerKind, seed: int) -> KvPool: ...

    def lay_out(self, cell: Cell, pool: KvPool, context_length: int) -> CellData: ...

    def ballast(self, rng: random.Random) -> Padding: ...

    def open_driver(self, arm: Arm, stage: Stage, pool: KvPool) -> Driver:
        """Import and build the arm's driver. Raises `MissingPackage`, `Refused`, or what the library raises."""

    # the instruments

    def timed(self, call: PreparedCall, data: CellData, slots: int, timing: TimingSpec, manner: Manner) -> Timed:
        """The call ready to be timed: captured, or launched eagerly."""

    def eagerly(self, call: PreparedCall, slots: int, timing: TimingSpec) -> Timed:
        """A call that would be captured, and is not yet, ready to be timed as it is launched without a graph."""

    def soundness(self, call: PreparedCall, timed: Timed, pools: int, timing: TimingSpec) -> Soundness | None:
        """How far a recorded call's time hangs on how it is timed; ``pools`` layers are there to rotate over. None where nothing
        is recorded."""

    def checker(self, data: CellData, slot: int, soft_cap: float | None, deviation: Deviation | None) -> Checking:
        """``deviation``: what is declared of the arms and would show on this cell."""

    def launches(self, call: PreparedCall, timed: Timed) -> tuple[KernelNode, ...]:
        """Of one call, eager ones too, to be asked after everything that is timed; empty where they cannot be known."""

    def identify(self, call: PreparedCall, timed: Timed) -> Identity:
        """What really runs."""

    def autotuned(self) -> tuple[tuple[str, str], ...]:
        """(kernel and problem, choice) of what libraries chose by timing it in this process."""

    def anchors(self, dtype: str, timing: TimingSpec, code: bytes | None) -> tuple[Anchors, bytes | None]:
        """What never changes, with the machine code it ran: ``code`` where that was given, None where there is none; and what is
        known, timed as ``timing`` has arms timed."""

    def rest_times(self, shape: StepShape, timing: TimingSpec, warm: Callable[[], bool]) -> RestTimes:
        """What of a step is not attention. ``warm`` is asked again and again before it is timed, with work in between, until it says so."""

    def lookout(self) -> Lookout: ...

    def rest(self, seconds: float) -> None:
        """Leave the device idle, so that it cools."""


def bench_for(spec: StageSpec, seed: int) -> Bench:
    """The bench of this process; nothing is imported or opened yet. ``seed`` draws what a simulated process meets."""
    if spec.simulation is not None:
        from backends.simulated.bench import SimulatedBench

        return SimulatedBench(spec.simulation, seed, dict(spec.streamed))
    from backends.torch_bench import TorchBench

    return TorchBench(spec.device, dict(spec.streamed))
