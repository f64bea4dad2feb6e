"""What a simulated GPU is like: its figures, its noise, how fast each backend is on it, and what befalls it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from enum import Enum

from backends.cell import Phase
from backends.environment import Board

MARK = "simulated "  # the names of simulated GPUs begin so, and no other's
CAUTION = "simulated: no GPU was measured, so nothing of this holds for a real one"


def is_simulated(gpu_name: str) -> bool:
    return gpu_name.startswith(MARK)


@dataclass(frozen=True)
class Noise:
    """y = ln(time) of an arm on a cell varies as y = mu + G + A + D(t) + e; figures are percent of a time.

    G: standard deviation ``common_pct``, one draw a process for all arms. A: ``process_pct``, one an arm and process, half of
    its variance shared by all cells; beside it the process puts each arm on one of two levels, ``modes_pct`` apart. D:
    ``drift_pct_per_minute`` for all arms, and a start ``transient_pct`` above that dies away in ``transient_s``. e:
    ``visit_pct`` a visit, ``sample_pct`` a sample; ``spike_share`` of the samples are longer, by ``spike_pct`` on average.
    """

    common_pct: float = 0.0
    process_pct: float = 0.0
    modes_pct: float = 0.0
    drift_pct_per_minute: float = 0.0
    transient_pct: float = 0.0
    transient_s: float = 1.0
    visit_pct: float = 0.0
    sample_pct: float = 0.0
    spike_share: float = 0.0
    spike_pct: float = 0.0


@dataclass(frozen=True)
class Pace:
    """A ``backend`` takes ``factor`` times what a good kernel would take, in ``phase`` (None = both). With ``module`` only
    where that import name has ``version``, with ``knob`` only arms that have it at ``value``."""

    backend: str
    factor: float
    phase: Phase | None = None
    module: str | None = None
    version: str | None = None
    knob: str | None = None
    value: str | None = None


@dataclass(frozen=True)
class Package:
    """What is installed: an import name, and a distribution behind it, of several its owner last."""

    module: str
    distribution: str
    version: str


class Misfortune(str, Enum):
    """What can befall the GPU, an arm on it, or the process that measures there."""

    FOREIGN_PROCESS = "foreign_process"
    EXCLUSIVE = "exclusive"  # lets one process at a time in
    THERMAL = "thermal"
    POWER_BRAKE = "power_brake"
    POWER_CAP = "power_cap"
    POWER_LIMIT = "power_limit"
    STARVED = "starved"
    SLOW_CLOCK = "slow_clock"  # its events see less time than passes
    ECC = "ecc"
    XID = "xid"  # a faulty kernel takes the device's context with it, where it names a backend; else it is somebody else's
    OUT_OF_MEMORY = "out_of_memory"
    REFUSED = "refused"
    FALLS_BACK = "falls_back"
    WRONG_ABI = "wrong_abi"  # its library was built for another torch and does not load
    NO_COMPILER = "no_compiler"
    BUILD_FAILS = "build_fails"
    NO_CODE = "no_code"  # its package has none for this architecture
    NANS = "nans"
    LOST_KEY = "lost_key"
    UNWRITTEN = "unwritten"
    SHORT_WINDOW = "short_window"  # sees one key fewer in a window than it would
    MENDED = "mended"  # computes what the model asks, whatever is declared of the backend
    WARM_CACHE = "warm_cache"
    PARTLY_WARM = "partly_warm"  # slower over twice as many pools
    UNEVEN = "uneven"  # a launch more takes less than the launches before it
    OVERLAPS = "overlaps"  # a launch begins inside the one before it
    CROWDED = "crowded"  # slower where weights stream between two launches
    SCATTERED = "scattered"  # slower where pages lie at random
    GRAPH_PENALTY = "graph_penalty"  # a launch of a graph takes longer than an eager one, on another grid
    STALE_GRAPH = "stale_graph"  # replays what it was recorded on
    OTHER_KERNEL = "other_kernel"  # under the same name
    WAITS = "waits"  # for the device inside an eager call, which cannot be recorded then
    SLOW_BUILD = "slow_build"
    CRASH = "crash"
    HANG = "hang"
    KILLED = "killed"


@dataclass(frozen=True)
class Fault:
    """``kind`` befalls what fits ``backend``, ``phase`` and ``cell`` (None = any), from ``after_s`` of the process's own seconds
    on, ``for_s`` long (None = for good).

    ``process`` counts the processes that a command starts to measure, from 1; 0 is the one that looks after the GPU meanwhile;
    None = in each of them. ``seconds``: how long a slow build takes. ``at``: what the process is at when it hangs, by the name of the
    patience with it (`backends.silence`): importing, building, capturing, checking or timing.
    """

    kind: Misfortune
    backend: str | None = None
    phase: Phase | None = None
    cell: str | None = None
    process: int | None = None
    after_s: float = 0.0
    for_s: float | None = None
    seconds: float = 60.0
    at: str = "timing"


@dataclass(frozen=True)
class RecordedCell:
    """One arm on one cell in one process of a recorded run: ``visit_us`` are medians of its visits, ``visit_served_us`` that of
    what they took when served (None = not recorded), ``served_us`` a probe's. ``digest`` is the cell's, whose name may be
    another cell's in another run."""

    arm: str
    cell: str
    digest: str
    visit_us: tuple[float, ...]
    visit_served_us: float | None
    served_us: float | None
    metadata_us: tuple[float, float]


RecordedProcess = tuple[RecordedCell, ...]


@dataclass(frozen=True)
class World:
    """``eager`` names backends that the engine does not capture.

    ``telling`` False: its management library refuses, as in some containers. ``recorded``: processes from which times are
    drawn; None = they are modelled.
    """

    board: Board
    peak_flops: float
    cuda: str | None
    seed: int = 0
    noise: Noise = Noise()
    paces: tuple[Pace, ...] = ()
    packages: tuple[Package, ...] = ()
    eager: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    telling: bool = True
    recorded: tuple[RecordedProcess, ...] | None = None

    def of_process(self, number: int) -> World:
        """As the ``number``-th process of a command finds it."""
        return replace(self, faults=tuple(fault for fault in self.faults if fault.process in (None, number)))


def uuid_of(*parts: object) -> str:
    """Another noise is another board: its numbers are not to be mixed with these."""
    return f"simulated-{hashlib.sha256(repr(parts).encode()).hexdigest()[:12]}"
