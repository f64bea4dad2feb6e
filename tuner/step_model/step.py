"""Attention's share of a step. Everything else of it is a range: of what was measured on this board where there is such, else predicted
from a roofline.

    rest = max(weight bytes / (e BW), flops / (e F)) + small kernels + all-reduces        e in `rates.EFFICIENCY`

per rank; KV reads are in the attention that was measured. Groups of attention data parallelism each project their own
tokens, and all ranks share the other products of all groups' tokens. The gap between steps is taken as 0 (the engine
schedules the next step while this one runs). Layers without attention (Mamba, linear attention) leave the rest unbounded
above: nothing here bounds what their own kernels take.

Measured: from every small kernel fused to none (`backends.step.shape.RestTimes`), one process's level on either side. What ranks send each
other is the predicted term then too, and between two steps the host may be waited for.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from backends.cell import Cell
from backends.model import Model
from backends.step.shape import RestTimes
from store.scenario import WeightedCell
from store.step_model import StepModel
from tuner.step_model.rates import Rates
from tuner.step_model.shape import shape_of, tokens_of
from tuner.workload.ranks import Ranks
from tuner.workload.weights import ELEMENT_BYTES, attention_params, bytes_per_param, params_per_rank

MS_PER_S = 1000.0
MS_PER_US = 1 / 1000.0
US_PER_S = 1e6
SMALL_KERNELS_PER_LAYER = 8  # norms, rotary embedding, activation, residuals
# Judgement: launch-bound kernels inside a CUDA graph; on a CPU an eager operator with its dispatch.
SMALL_KERNEL_US = {"cuda": (1.0, 4.0), "cpu": (1.0, 50.0)}
ALL_REDUCES_PER_LAYER = 2
ALL_REDUCE_US = (2.0, 20.0)  # judgement: latency over NVLink
LEVEL = 0.02  # judgement: by how much another process might time the rest apart (calls of attention: 0.85 % at most on an H200)
# Of a step over its kernels, at worst: SGLang's one-batch on an H200, docs/against-the-engine.md (mean fa3 step less the profiler's sum).
HOST_GAP_MS = {"cuda": (0.0, 0.6), "cpu": (0.0, 0.0)}
LINK_SHARE = 0.1  # of memory bandwidth, at worst (H200: NVLink 450 GB/s a direction against 4.8 TB/s)


@dataclass(frozen=True)
class Span:
    """A time in ms between two ends; ``high`` None = nothing bounds it."""

    low: float
    high: float | None

    def __add__(self, other: Span) -> Span:
        return Span(self.low + other.low, None if self.high is None or other.high is None else self.high + other.high)

    def __mul__(self, factor: float) -> Span:
        return Span(self.low * factor, None if self.high is None else self.high * factor)


@dataclass(frozen=True)
class Surroundings:
    """What attention stands in: enough to predict the rest of a step. ``device`` is "cuda" or "cpu". ``measured``: the rest of the
    steps that were measured on the board."""

    model: Model
    ranks: Ranks
    device: str
    rates: Rates
    measured: tuple[RestTimes, ...] = ()


def params_read(model: Model, tokens: int) -> tuple[float, float]:
    """Parameters a step of ``tokens`` reads, whole model: at least the active ones, at most as many as routing can touch.

    With f = active / total, total x (1 - (1 - f)^tokens) bounds the experts that independent tokens touch: each parameter
    is touched with 1 - (1 - p)^tokens, concave in its own p, and the p average to f (Jensen). Dense models: f = 1. The low
    end leaves out one vocabulary matrix, which an embedding only looks up.
    """
    share = min(1.0, model.params_active / model.params_total)
    touched = model.params_total * (1 - (1 - share) ** tokens)
    return max(0.0, model.params_active - _vocabulary(model)), touched


def params_multiplied(model: Model) -> tuple[float, float]:
    """Parameters each token is multiplied with: the active ones, with both vocabulary matrices or without (prefill
    computes logits of the last tokens only)."""
    return max(0.0, model.params_active - 2 * _vocabulary(model)), model.params_active


def rest(cell: Cell, around: Surroundings) -> Span:
    """Everything of one step but attention, in ms, per rank."""
    times = rest_times(cell, around)
    return rest_of(tokens_of(cell), around) if times is None else _as_measured(times, around)


def rest_times(cell: Cell, around: Surroundings) -> RestTimes | None:
    """What was measured of the steps that ``cell`` is of; None = they are predicted."""
    shape = shape_of(around.model, around.ranks, cell) if around.measured else None
    return next((found for found in around.measured if found.shape == shape), None)


def _as_measured(times: RestTimes, around: Surroundings) -> Span:
    ways = median(times.fused_ms), median(times.apart_ms)
    ranks = _all_reduces(times.shape.rows, around)
    return Span(min(ways) * (1 - LEVEL), max(ways) * (1 + LEVEL)) + Span(*HOST_GAP_MS[around.device]) + ranks


def rest_of(tokens: int, around: Surroundings) -> Span:
    """As `rest`, of a step whose matrix products see ``tokens`` rows."""
    return _products(tokens, around) + _small_kernels(tokens, around) + _all_reduces(tokens, around)


def layers_rest(weighted: WeightedCell, around: Surroundings) -> Span:
    """The part of a step's rest that falls to this cell's layers, so that cells of several layer kinds add up to one step."""
    return rest(weighted.cell, around) * (weighted.layers / around.model.attention_layers)


def share(attention_ms: float, other: Span) -> tuple[float, float]:
    """Attention's fraction of attention + rest: (low, high)."""
    low = 0.0 if other.high is None else attention_ms / (attention_ms + other.high)
    return low, attention_ms / (attention_ms + other.low)


def step_model(weighted: WeightedCell, attention_ms: float, around: Surroundings) -> StepModel:
    other = layers_rest(weighted, around)
    low, high = share(attention_ms, other)
    measured = rest_times(weighted.cell, around) is not None
    return StepModel(weighted.cell.phase.value, weighted.cell.name, attention_ms, other.low, other.high, low, high, measured)


def _products(tokens: int, around: Surroundings) -> Span:
    rates, element = around.rates, bytes_per_param(around.model)
    bytes_low, bytes_high = (_held(around, params) * element for params in params_read(around.model, tokens * around.ranks.attn_dp))
    flops_low, flops_high = (2 * _multiplied(around, params, tokens) for params in params_multiplied(around.model))
    low = max(_at_best(bytes_low, rates.bandwidth_high), _at_best(flops_low * _narrowest(around.model), rates.flops_high))
    if rates.bandwidth_low is None or rates.flops_low is None or around.model.other_layers:
        return Span(low * MS_PER_S, None)
    return Span(low * MS_PER_S, max(bytes_high / rates.bandwidth_low, flops_high / rates.flops_low) * MS_PER_S)


def _held(around: Surroundings, params: float) -> float:
    return params_per_rank(around.model, params, around.ranks)


def _multiplied(around: Surroundings, params: float, tokens: int) -> float:
    """Parameters x tokens that one rank multiplies: attention's with its own group's tokens, the others with all groups'."""
    ranks, attention = around.ranks, min(attention_params(around.model), params)
    return tokens * (attention / ranks.attention + (params - attention) * ranks.attn_dp / ranks.tensor)


def _narrowest(model: Model) -> float:
    """The least part of a product's time that weights narrower than the model's dtype leave, where they are multiplied as they are."""
    return min(1.0, bytes_per_param(model) / ELEMENT_BYTES[model.dtype])


def _at_best(work: float, rate: float | None) -> float:
    return 0.0 if rate is None else work / rate


def _small_kernels(tokens: int, around: Surroundings) -> Span:
    """Launch-bound in decode; at worst each also reads and writes the hidden state."""
    low_us, high_us = SMALL_KERNEL_US[around.device]
    count = SMALL_KERNELS_PER_LAYER * _layers(around.model)
    return Span(low_us, _with_traffic(high_us, 2 * _hidden_bytes(tokens, around), around.rates.bandwidth_low)) * (count * MS_PER_US)


def _all_reduces(tokens: int, around: Surroundings) -> Span:
    if around.ranks.tensor == 1:
        return Span(0.0, 0.0)
    low_us, high_us = ALL_REDUCE_US
    count = ALL_REDUCES_PER_LAYER * _layers(around.model)
    link = None if around.rates.bandwidth_low is None else LINK_SHARE * around.rates.bandwidth_low
    return Span(low_us, _with_traffic(high_us, 2 * _hidden_bytes(tokens, around), link)) * (count * MS_PER_US)


def _with_traffic(latency_us: float, moved_bytes: float, rate: float | None) -> float | None:
    return None if rate is None else latency_us + moved_bytes / rate * US_PER_S


def _hidden_bytes(tokens: int, around: Surroundings) -> float:
    """Of the tokens of every group of ranks, which the other products gather."""
    return tokens * around.ranks.attn_dp * around.model.hidden_size * ELEMENT_BYTES[around.model.dtype]


def _layers(model: Model) -> int:
    return model.attention_layers + model.other_layers


def _vocabulary(model: Model) -> float:
    return float(model.vocab_size) * model.hidden_size
