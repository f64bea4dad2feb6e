"""Where a model's parameters lie: what one rank holds of them, and in how many bytes."""

from __future__ import annotations

from backends import dtypes
from backends.model import Model
from tuner.workload.ranks import Ranks

ELEMENT_BYTES = {name: float(size) for name, size in dtypes.ELEMENT_BYTES.items()}


def bytes_per_param(model: Model) -> float:
    """On average, as the checkpoint stores them."""
    return ELEMENT_BYTES[model.dtype] if model.weight_bits is None else model.weight_bits / 8


def attention_params(model: Model) -> float:
    """Parameters of the projections in the layers with attention: the model's own figure, else those of plain heads."""
    if model.attention_params is not None:
        return model.attention_params
    widths = (
        kind.layers * (kind.query_heads + kind.kv_heads) * (kind.head_dim + kind.value_head_dim) for kind in model.layers
    )  # Q and O, K and V
    return min(float(model.hidden_size) * sum(widths), model.params_active)


def params_per_rank(model: Model, params: float, ranks: Ranks) -> float:
    """Of ``params`` whole-model parameters, attention's projections included: the latter are divided over the attention ranks
    alone, so that groups of attention data parallelism each hold a copy; all others over every rank."""
    attention = min(attention_params(model), params)
    return (params - attention) / ranks.tensor + attention / ranks.attention


def weight_bytes(model: Model, ranks: Ranks) -> int:
    """Bytes of weights on one rank."""
    return round(params_per_rank(model, model.params_total, ranks) * bytes_per_param(model))
