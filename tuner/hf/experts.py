"""A mixture of experts: how many, how wide, and in which layers."""

from __future__ import annotations

from dataclasses import dataclass

from tuner.hf.fields import Config, count, items, of_layer


@dataclass(frozen=True)
class Experts:
    """Of ``total`` routed experts a token meets ``active``; ``shared_width`` is that of the MLP every token meets, 0 = none."""

    total: int
    active: int
    width: int
    shared_width: int


def experts_of(config: Config) -> Experts | None:
    """None for a dense model."""
    total, active = count(config, "num_experts"), count(config, "num_experts_per_tok")
    if not total or total < 2 or not active:
        return None
    width = count(config, "moe_intermediate_size", 1) or count(config, "intermediate_size", 1)
    return Experts(total, min(active, total), width, _shared_width(config, width)) if width else None


def _shared_width(config: Config, width: int) -> int:
    if (own := count(config, "shared_expert_intermediate_size")) is not None:
        return own
    model_type = config.get("model_type")
    if model_type in ("llama4_text", "llama4"):
        return width
    if model_type == "gemma4_text":  # a dense MLP beside the experts
        return count(config, "intermediate_size") or 0
    return (count(config, "n_shared_experts") or 0) * width


def is_sparse(config: Config, index: int) -> bool:
    """Whether layer ``index`` has experts instead of one MLP. Raises `UsageError` for a list of layers that ends before it."""
    if items(config, "mlp_layer_types") is not None:
        return bool(of_layer(config, "mlp_layer_types", index) == "sparse")
    if (listed := items(config, "moe_layers")) is not None:
        return index in listed
    if isinstance(text := config.get("moe_layers_enum"), str):
        return str(index) in text.split(",")
    if index < (count(config, "first_k_dense_replace") or count(config, "num_dense_layers") or 0):
        return False
    if index < (count(config, "moe_layer_start_index") or 0) or index in (items(config, "mlp_only_layers") or ()):
        return False
    return _in_step(config, index)


def _in_step(config: Config, index: int) -> bool:
    """One layer in so many, counted as each family counts."""
    if isinstance(config.get("moe_layer_freq"), list):
        return bool(of_layer(config, "moe_layer_freq", index))
    if period := count(config, "expert_layer_period", 1):
        return index % period == (count(config, "expert_layer_offset") or 0)
    if every := count(config, "moe_layer_freq", 1):
        return index % every == 0
    step = count(config, "decoder_sparse_step", 1) or count(config, "interleave_moe_layer_step", 1) or 1
    return (index + 1) % step == 0
