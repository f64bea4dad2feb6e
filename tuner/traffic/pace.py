"""How long the steps of a server take, predicted: the clock of the simulation, and what tells the steps that count from the others.

    step = rest (`tuner.step_model.step`) + attention
    attention of a decode step   = layers x latency + keys and values of all contexts / bandwidth
    attention of a prefill step  = layers x latency + the larger of keys and values / bandwidth and the products of the causal mask / flops

Rates are single ones here, of the ranges that `tuner.step_model.rates` gives: memory near its upper end, as decode steps read it,
arithmetic at its lower end, as whole prefills reach. Windows bound what their layers read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from backends.cell import Phase
from backends.model import Model
from store.scenario import Scenario
from tuner.engines.lookup import rules_of
from tuner.step_model.rates import Rates, rates
from tuner.step_model.shape import vocabulary_matrices
from tuner.step_model.step import Surroundings, rest_of
from tuner.traffic.requests import Floats, Ints
from tuner.workload.kv_size import element_bytes
from tuner.workload.ranks import phase_kind, ranks_of

LATENCY_US = {"cuda": 8.0, "cpu": 100.0}  # judgement: what the smallest calls take (an H200's: 8 to 14 us)
UNKNOWN_BANDWIDTH, UNKNOWN_FLOPS = 1e11, 1e12  # of a machine without a sheet: a CPU's
READING = 0.85  # of a sheet's bandwidth. Fitted: what an L4 reads Qwen3-8B's weights with (60.2 ms a token); an H200 copies with 0.90
LARGEST_STEP = 1 << 15  # tokens up to which the rest of a step is tabled


@dataclass(frozen=True)
class KindPace:
    """What one layer kind reads and multiplies, over all its layers: ``key_s`` a key of a decode step, ``pair_s`` a pair of query and
    key, ``read_s`` a key of a prefill step."""

    window: int | None
    key_s: float
    read_s: float
    pair_s: float


@dataclass(frozen=True, eq=False)
class Pace:
    """Seconds. ``rest_s``: of everything but attention in a step of so many tokens (index)."""

    rest_s: Floats
    latency_s: float
    kinds: tuple[KindPace, ...]

    def linear(self) -> tuple[float, float, list[tuple[int, float]]]:
        """For the inner loop: latency, seconds a key without a window, (window, seconds a key) of the others."""
        free = sum(kind.key_s for kind in self.kinds if kind.window is None)
        return self.latency_s, free, [(kind.window, kind.key_s) for kind in self.kinds if kind.window is not None]

    def decode_attention_s(self, batch: Floats, contexts: Floats) -> Floats:
        """``contexts``: the sum over a batch."""
        seen = (contexts if kind.window is None else np.minimum(contexts, batch * kind.window) for kind in self.kinds)
        parts = [keys * kind.key_s for keys, kind in zip(seen, self.kinds)]
        return reduce(np.add, parts, np.full(len(batch), self.latency_s))

    def piece_attention_s(self, prefix: Ints, new: Ints) -> Floats:
        """Of each piece of a prefill step, without the latency of the call."""
        found = np.zeros(len(new))
        for kind in self.kinds:
            keys, pairs = prefix + new, new * (prefix + (new + 1) / 2)
            if kind.window is not None:
                keys, pairs = np.minimum(keys, kind.window + new), np.minimum(pairs, new * float(kind.window))
            found += np.maximum(keys * kind.read_s, pairs * kind.pair_s)
        return found


def pace_of(scenario: Scenario, kv_dtype: str) -> Pace:
    """Of one group of ranks, which hold their keys and values as ``kv_dtype``."""
    ranks, sheet, known = ranks_of(scenario.engine), scenario.gpu.bandwidth_bytes_per_s, rates(scenario.gpu, ())
    device = "cpu" if scenario.gpu.kind == "cpu" else "cuda"
    bandwidth = READING * sheet if sheet else UNKNOWN_BANDWIDTH
    flops = known.flops_low or UNKNOWN_FLOPS
    around = Surroundings(_read(scenario.model), ranks, device, Rates(bandwidth, bandwidth, flops, flops, known.source))
    kinds = []
    for kind in rules_of(scenario).rank_layers(scenario):
        read = kind.layers * kind.cached_width * element_bytes(kv_dtype) / bandwidth
        heads = phase_kind(kind, ranks, Phase.PREFILL)
        pair = 2 * kind.layers * heads.query_heads * (kind.head_dim + kind.value_head_dim) / flops
        kinds.append(KindPace(kind.sliding_window, read / ranks.dcp, read, pair))
    return Pace(_rest_s(around), scenario.model.attention_layers * LATENCY_US[device] / 1e6, tuple(kinds))


def _read(model: Model) -> Model:
    """Without an embedding that is no head: a step looks its rows up and reads no more of it. The head is read like any other matrix."""
    embedding = (vocabulary_matrices(model) - 1) * model.vocab_size * model.hidden_size
    if embedding >= model.params_active:
        return model
    return replace(model, params_total=model.params_total - embedding, params_active=model.params_active - embedding, vocab_size=0)


def _rest_s(around: Surroundings) -> Floats:
    """Tabled at powers of 2^(1/4) and straight between them."""
    tokens = np.unique(np.round(2 ** np.arange(0, math.log2(LARGEST_STEP) + 0.25, 0.25)).astype(int))
    spans = [rest_of(int(count), around) for count in tokens]
    middle = [_middle(span.low, span.high, span.low) / 1e3 for span in spans]
    return np.interp(np.arange(LARGEST_STEP + 1), tokens, middle)


def _middle(low: float | None, high: float | None, unknown: float) -> float:
    known = [value for value in (low, high) if value]
    return math.exp(sum(map(math.log, known)) / len(known)) if known else unknown
