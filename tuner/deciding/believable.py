"""Arms that leave most of the memory's speed unused on a cell with enough to read: too few blocks to fill the GPU, or not the path that
was meant, such as another entry point of the same library. Said and not judged: it is a probe's short timing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from backends.arm import Arm
from backends.cell import attention_flops, kv_bytes
from backends.measured import Trial
from reports import numbers
from reports.kernel_names import launched
from store.runs.run import Run
from store.scenario import WeightedCell
from tuner.deciding.contest import Contest
from tuner.step_model.step import MS_PER_US, layers_rest, share
from tuner.workload.kv_size import element_bytes

# An H200's fa3, flashinfer and triton reached 0.65 to 0.92 of the datasheet's bandwidth on their largest decode cells.
BELIEVABLE = 0.5
LARGE_US = 30.0  # reading alone, beside which a launch is short; and what must be lost before few blocks are worth a word
FILLED = 0.5  # of the SMs


@dataclass(frozen=True)
class _Reading:
    """One arm on one cell whose pace memory sets; ``least_us`` at the bandwidth of the datasheet, ``blocks`` of its largest launch."""

    weighted: WeightedCell
    trial: Trial
    took_us: float
    least_us: float
    blocks: int | None

    @property
    def share(self) -> float:
        return self.least_us / self.took_us

    @property
    def where(self) -> str:
        return self.weighted.cell.name


def unbelievable(run: Run, contest: Contest) -> Iterator[str]:
    """A sentence an arm, of those that are served as the default is."""
    for arm in run.arms:
        readings = tuple(_readings(run, contest, arm))
        few = [one for one in readings if _fills_little(run, one)]
        large = [one for one in readings if one.least_us >= LARGE_US]
        if few:
            yield _few_blocks(run, contest, arm, min(few, key=lambda one: one.share))
        elif large and all(one.share < BELIEVABLE for one in large):
            yield _wrong_path(arm, max(large, key=lambda one: one.share))


def _readings(run: Run, contest: Contest, arm: Arm) -> Iterator[_Reading]:
    gpu, table = run.scenario.gpu, contest.table
    if gpu.bandwidth_bytes_per_s is None or gpu.peak_flops is None:
        return
    for weighted in table.cells:
        cell, trial = weighted.cell, table.trials.get((arm.name, weighted.cell.name))
        alike = contest.default is None or table.mode(arm.name, cell.name) == table.mode(contest.default.of(cell.phase), cell.name)
        least_us = kv_bytes(cell, element_bytes(arm.kv_dtype)) / gpu.bandwidth_bytes_per_s * 1e6
        if trial and trial.cost and alike and least_us >= attention_flops(cell) / gpu.peak_flops * 1e6:
            yield _Reading(weighted, trial, trial.cost.device_us, least_us, _blocks(trial))


def _blocks(trial: Trial) -> int | None:
    grids = [node.grid for node in trial.identity.nodes] if trial.identity else []
    return max((x * y * z for x, y, z in grids), default=None)


def _fills_little(run: Run, one: _Reading) -> bool:
    sms = run.scenario.gpu.sm_count
    few = one.blocks is not None and sms is not None and one.blocks < FILLED * sms
    return few and one.share < BELIEVABLE and one.took_us - one.least_us >= LARGE_US


def _few_blocks(run: Run, contest: Contest, arm: Arm, one: _Reading) -> str:
    low, high = share(one.weighted.layers * one.took_us * MS_PER_US, layers_rest(one.weighted, contest.around))
    return (
        f"{arm.name} launches at most {one.blocks} blocks on {one.where} where the GPU has {run.scenario.gpu.sm_count} SMs, and reads at "
        f"{numbers.percent(one.share)} of the memory's speed; with it attention is {numbers.percent_range(low, high)} of such a step, "
        f"predicted"
    )


def _wrong_path(arm: Arm, one: _Reading) -> str:
    ran = one.trial.identity
    path = f"it ran {ran.resolved}{f' ({launched(ran.kernels)})' if ran.kernels else ''}" if ran else "nobody knows what it ran"
    return (
        f"{arm.name} reads at {numbers.percent(one.share)} of the memory's speed at best (on {one.where}), and large cells are believed "
        f"from {numbers.percent(BELIEVABLE)} on: is it the path that was meant? {path[0].upper()}{path[1:]}"
    )
