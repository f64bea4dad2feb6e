"""How much of what the board can do a kernel uses: the share of its limit, memory's or arithmetic's, whichever binds.

A probe keeps the bytes and operations a second that a call needs at the least; a race's time is held against the same call. The limits
are the datasheet's: nothing comes nearer to them than what its makers promise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from backends.cell import Phase
from backends.measured import Trial
from backends.model import Attention
from reports import numbers
from reports.page import Table
from reports.web.page import Plot
from reports.web.rows import Axis, Mark, svg
from reports.web.series import Series
from store.decision import CellResult, Decision
from store.runs.run import Run

NARROW = ("fp8", "float8")  # a KV dtype that products of 8-bit numbers may work on
NONE_KNOWN = "No share of the limit is shown: no rates are known of this device."
NOT_COUNTED = "No share of the limit is shown: kernels of latent attention may do less than is counted here."
LEAD = "The bytes and operations that no call can do without, at the datasheet's rates, by the time that it took as it is served."
HEADER = ("cell", "arm", "bound by", "share of the limit", "time")


@dataclass(frozen=True)
class Share:
    """``memory`` and ``arithmetic``: fractions of what the datasheet promises."""

    result: CellResult
    memory: float
    arithmetic: float

    @property
    def of_limit(self) -> float:
        return max(self.memory, self.arithmetic)

    @property
    def bound(self) -> str:
        return "memory" if self.memory >= self.arithmetic else "arithmetic"


def lead(run: Run) -> tuple[str, ...]:
    """What is shown, by whose rates; or why nothing is."""
    why = why_none(run)
    return (why,) if why else (LEAD, f"Rates: {run.scenario.gpu.source}.")


def why_none(run: Run) -> str | None:
    if run.scenario.model.attention is not Attention.MHA:
        return NOT_COUNTED
    gpu = run.scenario.gpu
    return NONE_KNOWN if gpu.bandwidth_bytes_per_s is None or gpu.peak_flops is None else None


def shares(run: Run, decision: Decision) -> Iterator[Share]:
    """Of every arm on every cell that a probe counted; nothing where `why_none` says why."""
    trials = {(trial.arm, trial.cell): trial for trial in run.trials}
    if why_none(run) is not None:
        return
    for result in decision.cells:
        trial = trials.get((result.arm, result.cell))
        if trial is not None and trial.cost is not None:
            yield from _share(run, result, trial, trial.cost.device_us / result.median_us)


def _share(run: Run, result: CellResult, trial: Trial, faster: float) -> Iterator[Share]:
    """``faster``: the probe's time by the race's."""
    bandwidth, flops = run.scenario.gpu.bandwidth_bytes_per_s, _peak(run, result.arm)
    if bandwidth and flops and trial.bandwidth_bytes_per_s is not None and trial.flops_per_s is not None:
        yield Share(result, trial.bandwidth_bytes_per_s * faster / bandwidth, trial.flops_per_s * faster / flops)


def _peak(run: Run, arm: str) -> float | None:
    gpu = run.scenario.gpu
    narrow = any(each.name == arm and each.kv_dtype.startswith(NARROW) for each in run.arms)
    return gpu.peak_flops_fp8 or gpu.peak_flops if narrow else gpu.peak_flops


def plots(run: Run, decision: Decision, series: Series) -> tuple[Plot, ...]:
    """One a phase."""
    return tuple(plot for phase in Phase if (plot := _plot(run, decision, phase, series)) is not None)


def _plot(run: Run, decision: Decision, phase: Phase, series: Series) -> Plot | None:
    order = {weighted.cell.name: index for index, weighted in enumerate(run.cells) if weighted.cell.phase is phase}
    there = (share for share in shares(run, decision) if share.result.cell in order)
    found = sorted(there, key=lambda share: (order[share.result.cell], -share.of_limit))
    if not found:
        return None
    marks = [Mark(share.result.cell, share.result.arm, 100 * share.of_limit, 100 * share.of_limit, 100 * share.of_limit) for share in found]
    most = max(100.0, *(mark.value for mark in marks))
    axis = Axis("share of the datasheet's limit", at=100.0, limits=(0.0, 1.04 * most), unit=" %")
    bound = " and ".join(sorted({share.bound for share in found}))
    title = f"{phase.value.capitalize()}, bound by {bound}"
    drawn = svg(f"limit-{phase.value}", f"Dot plot: share of the limit, {title}", marks, axis, series)
    return Plot(title, "To the right is nearer to the limit.", drawn, Table(HEADER, tuple(map(_row, found))))


def _row(share: Share) -> tuple[str, ...]:
    took = numbers.microseconds(share.result.median_us)
    return share.result.cell, share.result.arm, share.bound, numbers.percent(share.of_limit), took
