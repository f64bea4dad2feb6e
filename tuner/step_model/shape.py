"""What of a step is not attention, in sizes, from a model's geometry and the ranks that serve it.

Assumed, where the model's record does not say: the MLP is gated, and as wide as the parameters that are left for it (without those of
attention and of the vocabulary, whose two matrices are one where that gives the more even width). A model with more parameters than a
token uses is a mixture of experts, `EXPERTS_A_TOKEN` of them a token, equal in all layers: how many there are changes neither the bytes
nor the products of a step, as long as the two figures of parameters are kept. Ranks divide each expert.
"""

from __future__ import annotations

from backends import dtypes
from backends.cell import Cell
from backends.model import Attention, LayerKind, Model, per_rank
from backends.step.shape import GATED, LayerShape, StepShape
from tuner.workload.ranks import Ranks
from tuner.workload.weights import attention_params

EXPERTS_A_TOKEN = 8
EVEN, EXPERTS_EVEN = 256, 8  # what widths of dense MLPs and numbers of experts are multiples of
EXPERT_EVEN = 64  # of an expert's width
MIXTURE = 1.05  # total over active parameters, from which on there are experts


def why_no_shape(model: Model) -> str | None:
    """Why the rest of this model's steps is not measured; None = it can be."""
    if model.attention is not Attention.MHA:
        return "latent attention has projections that the model's record does not give"
    if model.other_layers:
        return f"{model.other_layers} layers without attention have kernels of their own"
    if model.weight_bits is not None or model.dtype not in dtypes.ELEMENT_BYTES:
        return "quantized weights are multiplied by the engine's kernels, which torch has not"
    if _mlp_params(model, 2) <= 0:
        return "the model's figures leave no parameters to its MLP"
    return None


def tokens_of(cell: Cell) -> int:
    """Rows that the step's matrix products see: those of the padded batch where it generates, every new token in prefill."""
    return cell.padded_tokens


def shape_of(model: Model, ranks: Ranks, cell: Cell) -> StepShape | None:
    """Of the step that ``cell`` is of, on one rank; None where `why_no_shape` says why."""
    if why_no_shape(model) is not None:
        return None
    rows = tokens_of(cell)
    experts, a_token, width = _mlp(model)
    return StepShape(
        dtype=model.dtype,
        hidden=model.hidden_size,
        layers=tuple(_layer(kind, ranks) for kind in model.layers),
        mlp_width=max(1, width // ranks.tensor),
        experts=experts,
        experts_per_token=a_token,
        vocab=-(-model.vocab_size // ranks.tensor),
        rows=rows,
        mlp_rows=rows * ranks.attn_dp,
        logit_rows=cell.padded_tokens if cell.generates else cell.padded_batch,
    )


def _layer(kind: LayerKind, ranks: Ranks) -> LayerShape:
    own = per_rank(kind, ranks.attention)
    key, value = own.kv_heads * own.head_dim, own.kv_heads * own.value_head_dim
    return LayerShape(own.layers, own.query_heads * own.head_dim, key, value, own.query_heads * own.value_head_dim)


def _mlp(model: Model) -> tuple[int, int, int]:
    """Experts of a layer, those that a token takes, the width of one."""
    if model.params_total <= MIXTURE * model.params_active:
        return 1, 1, _dense_width(model)
    active = _mlp_params(model, 2)
    held = active + model.params_total - model.params_active
    width = active / (model.attention_layers * GATED * model.hidden_size * EXPERTS_A_TOKEN)
    experts = _rounded(EXPERTS_A_TOKEN * held / active, EXPERTS_EVEN)
    return experts, EXPERTS_A_TOKEN, _rounded(width, EXPERT_EVEN)


def _dense_width(model: Model) -> int:
    return _rounded(_exact_width(model, vocabulary_matrices(model)), EVEN)


def vocabulary_matrices(model: Model) -> int:
    """2, or 1 where the head is the embedding: what leaves the MLP of a dense model the more even width."""
    if model.params_total > MIXTURE * model.params_active:
        return 2
    missed = {matrices: abs(_exact_width(model, matrices) - _rounded(_exact_width(model, matrices), EVEN)) for matrices in (2, 1)}
    return min(missed, key=missed.__getitem__)


def _exact_width(model: Model, matrices: int) -> float:
    return _mlp_params(model, matrices) / (model.attention_layers * GATED * model.hidden_size)


def _rounded(value: float, step: int) -> int:
    return max(1, round(value / step)) * step


def _mlp_params(model: Model, vocabulary_matrices: int) -> float:
    """That one token uses."""
    return model.params_active - attention_params(model) - vocabulary_matrices * float(model.vocab_size) * model.hidden_size
