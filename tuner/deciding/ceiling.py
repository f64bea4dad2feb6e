"""The most that any kernel could win: where that is too little, nothing needs to be measured but the default, alone.

No kernel reads keys and values faster than the memory, or multiplies faster than the arithmetic of the datasheet. Without a sheet none
is thought to take any time at all, nor on latent attention, whose kernels may do less than is counted here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from backends.cell import Cell, attention_flops, kv_bytes
from backends.measured import Cost
from backends.model import Attention
from reports import numbers
from store.decision import Pair
from store.runs.run import Run
from store.scenario import Scenario, WeightedCell
from tuner.arithmetic.objective import US_PER_MS, Exposure, counted
from tuner.deciding.contest import rest_of, surroundings_of
from tuner.deciding.incumbent import incumbent
from tuner.racing.sieve import measured_trials
from tuner.step_model.rates import EFFICIENCY
from tuner.workload.kv_size import element_bytes

PROBE_ERROR = 1.1  # a probe is one short timing: the default may take so many times as long
NARROW = 2.0  # products of 8-bit numbers against those of 16 bits, where no sheet says


@dataclass(frozen=True)
class Ceiling:
    """``gain``: the fraction of a step that a kernel at the limits would win over ``default``, at the very most."""

    default: Pair
    gain: float

    def sentence(self, min_gain: float) -> str:
        most, needed = numbers.percent(self.gain), numbers.percent(min_gain)
        return (
            f"even attention at the speed of the memory and the arithmetic would win at most {most} of a step, predicted, less than the "
            f"{needed} of decide.min_gain; nothing but the default's own probe was measured"
        )


@dataclass(frozen=True)
class _Step:
    """One step of a cell with the default (``cost`` of a layer), and the least that a layer could take."""

    weighted: WeightedCell
    cost: Cost
    least_us: float

    def now_ms(self, exposure: Exposure) -> float:
        metadata_us = self.cost.metadata_idle_us if exposure is Exposure.EXPOSED else 0.0
        served_us = max(self.cost.device_us, self.cost.served_us or 0.0)  # what launching eagerly costs could be won too
        layers_us = self.weighted.layers * served_us + metadata_us
        return self.weighted.calls_per_1000_tokens * PROBE_ERROR * layers_us / US_PER_MS

    def least_ms(self) -> float:
        return self.weighted.calls_per_1000_tokens * self.weighted.layers * self.least_us / US_PER_MS


def too_low(run: Run) -> Ceiling | None:
    """The ceiling where no kernel could reach ``decide.min_gain``; None where one could, or where the default was not probed on
    every cell that counts."""
    pair, cells = incumbent(run), counted(run.cells, run.scenario.decide.objective)
    probed = measured_trials(run.trials)
    trials = [probed.get((pair.of(one.cell.phase), one.cell.name)) for one in cells] if pair else []
    costs = [trial.cost for trial in trials if trial is not None and trial.cost is not None]
    if pair is None or not cells or len(costs) < len(cells):
        return None
    kv_dtype = next(arm.kv_dtype for arm in run.arms if arm.name == pair.decode)
    steps = [_Step(one, cost, least_us(run.scenario, one.cell, kv_dtype)) for one, cost in zip(cells, costs)]
    found = Ceiling(pair, max(_gain(steps, rest_of(cells, surroundings_of(run)).low, exposure) for exposure in Exposure))
    return found if found.gain < run.scenario.decide.min_gain else None


def least_us(scenario: Scenario, cell: Cell, kv_dtype: str) -> float:
    """That a call can take; 0 where nothing says."""
    gpu, element = scenario.gpu, element_bytes(kv_dtype)
    if scenario.model.attention is not Attention.MHA or gpu.bandwidth_bytes_per_s is None or gpu.peak_flops is None:
        return 0.0
    narrow = gpu.peak_flops_fp8 or NARROW * gpu.peak_flops
    flops = max(narrow, gpu.peak_flops) if element == 1 else gpu.peak_flops
    return max(kv_bytes(cell, element) / gpu.bandwidth_bytes_per_s, attention_flops(cell) / flops) * 1e6


def _gain(steps: Iterable[_Step], rest_ms: float, exposure: Exposure) -> float:
    """With the shortest rest of the step, at the sheet's rates in full."""
    steps = tuple(steps)
    now_ms, least_ms = sum(step.now_ms(exposure) for step in steps), sum(step.least_ms() for step in steps)
    return max(0.0, now_ms - least_ms) / (now_ms + EFFICIENCY[1] * rest_ms)
