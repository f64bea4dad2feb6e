"""How fast this machine reads memory and multiplies, as a range: what the step model divides by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from backends.gpu import Gpu
from backends.measured import Trial

# Share of the peak that large matrix products and weight reads reach in serving; measured H200 copies reach 0.90 of the sheet.
EFFICIENCY = (0.6, 0.92)


@dataclass(frozen=True)
class Rates:
    """``None`` = not known: no lower end leaves the rest of a step unbounded, no upper end lets it shrink towards 0.
    ``source`` says in words where the rates come from."""

    bandwidth_low: float | None
    bandwidth_high: float | None
    flops_low: float | None
    flops_high: float | None
    source: str


def rates(gpu: Gpu, trials: Iterable[Trial]) -> Rates:
    """Datasheet peaks times `EFFICIENCY`; where no sheet gives one, the best rate any attention call of the run reached.

    A rate that was reached bounds the machine from below only, so it gives a low end and no high end. A sheet's high end
    is raised to what was reached where that is more.
    """
    measured = list(trials)
    bandwidth = _span(gpu.bandwidth_bytes_per_s, [trial.bandwidth_bytes_per_s for trial in measured])
    flops = _span(gpu.peak_flops, [trial.flops_per_s for trial in measured])
    return Rates(*bandwidth, *flops, _source(gpu, bandwidth, flops))


def _span(peak: float | None, seen: list[float | None]) -> tuple[float | None, float | None]:
    reached = max((rate for rate in seen if rate is not None), default=None)
    low, high = EFFICIENCY
    if peak is not None:
        return low * peak, max(high * peak, reached or 0.0)
    return (low * reached, None) if reached is not None else (None, None)


def _source(gpu: Gpu, *spans: tuple[float | None, float | None]) -> str:
    if all(high is not None for _, high in spans):
        return f"rates of {gpu.name} from its datasheet"
    if all(low is not None for low, _ in spans):
        return f"no datasheet rates of {gpu.name}: the best that attention reached in this run was taken as a lower end"
    return f"no rates of {gpu.name} known"
