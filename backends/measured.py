"""What the worker reports of an arm on a cell: once alone (a probe), then in rounds beside its rivals."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from backends.outcome import Outcome

Axes = tuple[int, int, int]


@dataclass(frozen=True)
class KernelNode:
    """One launch of a recorded call as the driver knows it: ``name`` mangled, ``shared_bytes`` dynamic; ``code`` what the
    compiler made of the kernel (`backends.cuda_graph.ATTRIBUTES`), the nearest to a hash of its code that a driver gives."""

    name: str
    grid: Axes
    block: Axes
    shared_bytes: int
    code: tuple[int, ...]


@dataclass(frozen=True)
class Identity:
    """What really ran. ``resolved`` is the inner path ("fa2", "fa3", "sdpa:flash"), ``mode`` "graph" or "eager",
    ``kernels`` the device kernel names of one call in launch order (empty where none can be read, as on a CPU), ``nodes``
    the launches of one call (empty where nothing is recorded, and where the driver does not tell)."""

    resolved: str
    mode: str
    kernels: tuple[str, ...]
    nodes: tuple[KernelNode, ...] = ()


def code_id(nodes: Sequence[KernelNode]) -> str | None:
    """Stands for the kernels of one call, whatever their grids; None where none is known."""
    return hashlib.sha256(repr([(node.name, node.code) for node in nodes]).encode()).hexdigest()[:12] if nodes else None


@dataclass(frozen=True)
class Cost:
    """One attention call of one layer, in microseconds, and what surrounds it.

    ``device_us``: device time of a call with the queue kept ahead (CPU: wall time). ``served_us``: time from one
    eager call to the next, host included; None where a graph replays it. ``metadata_host_us`` / ``metadata_idle_us``: the step's
    metadata (once a step, not a layer), until the host returns / until the device is idle again.
    """

    device_us: float
    served_us: float | None
    metadata_host_us: float
    metadata_idle_us: float


@dataclass(frozen=True)
class Soundness:
    """How far a recorded call's time hangs on how it is timed, as ratios to the usual way; None = not tried.

    ``rotation``: over twice as many pools. ``slope``: a launch more, from a graph of twice as many. ``spaced``: with another
    small kernel between two launches, whose own time is taken off. ``eager``: launched without a graph, on the device alone.
    """

    rotation: float | None = None
    slope: float | None = None
    spaced: float | None = None
    eager: float | None = None


@dataclass(frozen=True)
class Trial:
    """One arm on one cell, alone in its process; None = not measured.

    ``relative_error`` is the largest and ``rms_error`` the root mean square over (row, head) outputs, as
    `backends.checks.tolerance` takes them. ``workspace_bytes``: device memory that the opened backend and this prepared
    call keep beside the KV pool; ``graph_bytes``: what the CUDA graph of the call took. ``open_s``: opening the backend,
    imports apart (the same on every cell of a process); ``first_call_s``: from preparing the call to the end of its first
    launch, kernels that had to be built included. ``build_s``: that, and on a process's first cell opening and imports.
    ``kernel_files``: (name, `backends.worker.kernel_files`' word for where it lay) of each compiled kernel taken from a
    cache; empty = all came with their packages, or were compiled in memory. ``autotuned``: (kernel and problem, choice) of
    whatever was chosen by timing in this process. ``labels`` are cautions, as of a `Round`. ``probed_in``: id of the run that it was
    measured in; None = of the one it stands in.
    """

    arm: str
    cell: str
    outcome: Outcome
    detail: str | None = None
    identity: Identity | None = None
    cost: Cost | None = None
    relative_error: float | None = None
    needle_error: float | None = None
    bandwidth_bytes_per_s: float | None = None
    flops_per_s: float | None = None
    slots: int | None = None
    pool_tokens: int | None = None
    peak_memory_bytes: int | None = None
    build_s: float | None = None
    capture_s: float | None = None
    rms_error: float | None = None
    workspace_bytes: int | None = None
    graph_bytes: int | None = None
    open_s: float | None = None
    first_call_s: float | None = None
    kernel_files: tuple[tuple[str, str], ...] | None = None
    soundness: Soundness | None = None
    autotuned: tuple[tuple[str, str], ...] = ()
    labels: tuple[str, ...] = ()
    probed_in: str | None = None

    def __post_init__(self) -> None:
        measured = self.outcome is Outcome.MEASURED
        if measured != (self.cost is not None) or measured != (self.identity is not None):
            raise ValueError(f"trial {self.arm} on {self.cell}: outcome {self.outcome.value!r} and its numbers contradict")
        if not measured and not self.detail:
            raise ValueError(f"trial {self.arm} on {self.cell}: outcome {self.outcome.value!r} needs a detail")


@dataclass(frozen=True)
class Visit:
    """One uninterrupted timing of an arm on a cell: ``sample_us`` per replay, divided by its launches. ``served_us``: time from one
    call to the next as the engine launches them, host included, the median of ``row_us``, one value a row of calls; None where a
    graph replays it, and on a CPU, where a sample is just that. ``sm_clock_mhz``: mean over the samples, read in the stream; None
    = not readable."""

    block: int
    position: int
    arm: str
    sample_us: tuple[float, ...]
    served_us: float | None = None
    sm_clock_mhz: float | None = None
    row_us: tuple[float, ...] = ()


@dataclass(frozen=True)
class Conditions:
    """What NVML said of the board while a cell was timed: lowest and highest of ``readings``, ``reasons`` every bit of what
    held the clocks down. None = not told."""

    readings: int
    sm_clock_mhz: tuple[float, float] | None = None
    memory_clock_mhz: tuple[float, float] | None = None
    temperature_c: tuple[float, float] | None = None
    power_w: tuple[float, float] | None = None
    power_limit_w: tuple[float, float] | None = None
    reasons: int | None = None


@dataclass(frozen=True)
class CellRound:
    """All visits to one cell in one fresh process, with the metadata cost of each arm (arm, host us, idle us) and how long
    its first call took (arm, seconds), what it builds anew in every process included.

    ``code_ids``: (arm, `code_id` of its recorded launches), of arms that have one. ``spacer_us``: time of the small kernel that
    stood between two launches and was taken off every sample; None = none stood there. ``voided``: why blocks were timed
    again, in sentences.
    """

    cell: str
    launches: tuple[tuple[str, int], ...]
    visits: tuple[Visit, ...]
    metadata_us: tuple[tuple[str, float, float], ...]
    settled: bool
    first_call_s: tuple[tuple[str, float], ...] = ()
    code_ids: tuple[tuple[str, str], ...] = ()
    spacer_us: float | None = None
    conditions: Conditions | None = None
    voided: tuple[str, ...] = ()


@dataclass(frozen=True)
class Round:
    """One fresh process: every arm on every cell, interleaved. ``seconds`` says where the wall time went
    (imports, build, capture, warmup, timing, check, waiting), ``seed`` reproduces its order and placement.
    ``labels`` are cautions that limit what may be said of it ("unsettled", "warm-risk", "exclusivity not verifiable").
    ``confirms``: measured after the choice and without a say in it, only the pick and the default. ``quiet``: whatever imported
    beside it stood still while it timed. ``board``: UUID of the board it ran on; None = that of its run, which told none or is an
    early one."""

    index: int
    seed: int
    cells: tuple[CellRound, ...]
    seconds: tuple[tuple[str, float], ...]
    labels: tuple[str, ...] = ()
    confirms: bool = False
    quiet: bool = False
    board: str | None = None
