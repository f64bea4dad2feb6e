"""How much times vary by themselves, cell by cell, over all sittings. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from store.boards.calibration import ArmNoise
from tests.bench.sittings.judge import Findings
from tests.bench.sittings.sitting import Sitting


@dataclass(frozen=True)
class CellNoise:
    """An arm on a cell against itself. Fractions of a time: ``sigma_visit`` and ``sigma_0`` (of a process's difference) pooled over
    sittings, ``worst`` sigma_0 of one of them, ``offset`` the mean of all differences and ``error`` its standard error."""

    arm: str
    cell: str
    launched: bool
    us: float
    sittings: int
    sigma_visit: float
    sigma_0: float
    worst: float
    offset: float
    error: float


def noise_by_cell(findings: Iterable[Findings]) -> tuple[CellNoise, ...]:
    """Decode cells in the order of their times, then prefill."""
    found: dict[tuple[str, str], list[tuple[Sitting, ArmNoise]]] = {}
    for each in (each for each in findings if each.by_share):
        for noise in each.noise:
            found.setdefault((noise.arm, noise.cell), []).append((each.sitting, noise))
    return tuple(sorted((_of_cell(seen) for seen in found.values()), key=lambda each: (each.arm, each.launched, each.us)))


def _of_cell(seen: list[tuple[Sitting, ArmNoise]]) -> CellNoise:
    first, sigma_0 = seen[0][1], _pooled(noise.sigma_process for _, noise in seen)
    times = [us for sitting, _ in seen for us in sitting.ln_us(first.arm, first.cell) if us is not None]
    processes = sum(noise.processes for _, noise in seen)
    return CellNoise(
        arm=first.arm,
        cell=first.cell,
        launched=any(noise.with_host for _, noise in seen),
        us=math.exp(fmean(times)),
        sittings=len(seen),
        sigma_visit=_pooled(noise.sigma_visit for _, noise in seen),
        sigma_0=sigma_0,
        worst=max(noise.sigma_process for _, noise in seen),
        offset=sum(noise.mean * noise.processes for _, noise in seen) / processes,
        error=sigma_0 / math.sqrt(processes),
    )


def _pooled(sigmas: Iterable[float]) -> float:
    return math.sqrt(fmean(sigma**2 for sigma in sigmas))
