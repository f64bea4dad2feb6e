"""What stands in for a GPU: its noise, the factors of its backends, what befalls it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from tuner.schema import MISSING

Phase = Enum("Phase", ["decode", "prefill"])
HangsAt = Enum("HangsAt", ["importing", "building", "capturing", "checking", "timing"])
Misfortune = Enum(
    "Misfortune",
    "foreign_process exclusive thermal power_brake power_cap power_limit starved slow_clock ecc xid out_of_memory refused falls_back nans "
    "lost_key unwritten short_window mended warm_cache partly_warm uneven overlaps crowded scattered graph_penalty stale_graph "
    "other_kernel waits slow_build crash hang killed wrong_abi no_compiler build_fails no_code",
)


@dataclass
class NoiseNode:
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


@dataclass
class FactorNode:
    decode: float = 1.0
    prefill: float = 1.0


@dataclass
class ReleaseNode:
    module: str = MISSING
    version: str = MISSING
    backend: str = MISSING
    phase: Phase | None = None
    factor: float = MISSING


@dataclass
class KnobNode:
    backend: str = MISSING
    knob: str = MISSING
    value: str = MISSING
    phase: Phase | None = None
    factor: float = MISSING


@dataclass
class FaultNode:
    kind: Misfortune = MISSING
    backend: str | None = None
    phase: Phase | None = None
    cell: str | None = None
    process: int | None = None
    after_s: float = 0.0
    for_s: float | None = None
    seconds: float = 60.0
    at: HangsAt = HangsAt.timing


@dataclass
class PaceNode:
    backend: str = MISSING
    phase: Phase | None = None
    factor: float = MISSING


@dataclass
class BoardNode:
    common: float = 1.0
    paces: list[PaceNode] = field(default_factory=list)
    faults: list[FaultNode] = field(default_factory=list)


@dataclass
class SimulatedNode:
    seed: int = 0
    power_limit_w: float = MISSING
    max_sm_clock_mhz: int = MISSING
    telling: bool = True
    recording: str | None = None
    versions: dict[str, str] = field(default_factory=dict)
    noise: NoiseNode = field(default_factory=NoiseNode)
    factor: dict[str, FactorNode] = field(default_factory=dict)
    releases: list[ReleaseNode] = field(default_factory=list)
    knobs: list[KnobNode] = field(default_factory=list)
    boards: list[BoardNode] = field(default_factory=list)
    faults: list[FaultNode] = field(default_factory=list)
