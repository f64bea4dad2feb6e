"""Latent attention (MLA) as DeepSeek's model calls it.

Decode and verify steps hand an attention layer absorbed queries and latent vectors. Prefill runs the model's own forward methods over
projections that are handed over: which of them, the engine's own rule for the backend says, and what they add (reading the prefix back,
projecting it up or the queries down) is part of the call, since that is what tells backends apart.
Source: sglang/srt/models/deepseek_common, 0.5.16 and 0.5.22.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from backends.driver import Refused
from backends.sglang.radix import attention_layer

if TYPE_CHECKING:
    import torch

    from backends.driver import CellData
    from backends.sglang.engine import Engine

# What sglang/srt/models/deepseek_v2.py, forward_prepare and forward_core, call for a method that the engine's rule names.
FORMS = {
    "MHA": "forward_normal",
    "MHA_CHUNKED_KV": "forward_normal_chunked_kv",
    "MHA_ONE_SHOT": "forward_normal_one_shot",
    "MLA": "forward_absorb",
}
# Of a ForwardBatch: made by the first layer of a step and kept for the others.
ONCE_A_STEP = ("num_prefix_chunks", "mha_one_shot", "mha_one_shot_kv_indices", "mha_return_lse", "attn_attend_prefix_cache")


def layers_of(engine: Engine, data: CellData) -> list[Any]:
    slots = range(engine.pool.slots)
    if data.cell.generates:
        return [AbsorbedDecode(engine, data, slot) for slot in slots]
    weights = _projections(data)
    return [PrefillLayer(engine, data, slot, weights) for slot in slots]


def restart(batch: Any) -> None:
    """Make the next layer the first of a step."""
    for name in ONCE_A_STEP:
        setattr(batch, name, None)


class AbsorbedDecode:
    """What forward_absorb_core does before and in its call; some backends take the parts of a vector, for others it joins them."""

    form = "absorbed"

    def __init__(self, engine: Engine, data: CellData, slot: int) -> None:
        from sglang.srt.models.deepseek_common.utils import FORWARD_ABSORB_CORE_ATTENTION_BACKENDS

        kind = data.cell.layer
        shape = {"num_heads": kind.query_heads, "num_kv_heads": 1, "head_dim": kind.head_dim, "v_head_dim": kind.value_head_dim}
        self._layer = attention_layer(engine, data, slot, **shape)
        self._parts = [kind.value_head_dim, kind.head_dim - kind.value_head_dim]
        self._apart = engine.arm.backend in FORWARD_ABSORB_CORE_ATTENTION_BACKENDS

    def __call__(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, batch: Any) -> Any:
        import torch

        q_nope, q_rope = torch.split(q.view(len(q), -1, sum(self._parts)), self._parts, dim=-1)
        k_nope, k_rope = torch.split(k.view(len(k), 1, -1), self._parts, dim=-1)
        if self._apart:
            return self._layer(q_nope, k_nope, k_nope, batch, q_rope=q_rope, k_rope=k_rope)
        return self._layer(torch.cat([q_nope, q_rope], dim=-1), torch.cat([k_nope, k_rope], dim=-1), k_nope, batch)


class PrefillLayer:
    """A layer from the queries of its heads and the latent vectors to the outputs of its heads. ``form`` is the method that the engine's
    rule named at the latest call."""

    form = ""

    def __init__(self, engine: Engine, data: CellData, slot: int, weights: dict[str, Any]) -> None:
        from sglang.srt.models.deepseek_common.attention_backend_handler import AttentionBackendRegistry

        self._backend = engine.arm.backend
        self._choose = AttentionBackendRegistry.get_handler(self._backend)
        self._model = _model_class()()
        vars(self._model).update(weights | _as_loaded(engine, data, slot))
        self._model.init_mha_forward()
        self._model.init_mla_forward()

    def __call__(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, batch: Any) -> Any:
        self.form = self._choose(self._model, batch).name
        if (name := FORMS.get(self.form)) is None:
            raise Refused(f"SGLang prefills on {self._backend} as {self.form}, which attnpin does not drive; choose another backend")
        prepare, core = getattr(self._model, f"{name}_prepare"), getattr(self._model, f"{name}_core")
        return core(*prepare(batch.positions, (q, k), batch, None))


@cache
def _model_class() -> Any:
    """The forward methods of DeepseekV2AttentionMLA without its weights."""
    from sglang.srt.models.deepseek_common.attention_forward_methods.forward_mha import DeepseekMHAForwardMixin
    from sglang.srt.models.deepseek_common.attention_forward_methods.forward_mla import DeepseekMLAForwardMixin

    return type("HandedOver", (DeepseekMHAForwardMixin, DeepseekMLAForwardMixin), {})


def _projections(data: CellData) -> dict[str, Any]:
    """The weights that all slots share, in the model's dtype: up as one product, or absorbed into queries and outputs."""
    import torch

    assert data.up is not None
    nope, weight = data.up.shape[1] - data.cell.layer.value_head_dim, data.up.flatten(0, 1)
    return {
        "kv_b_proj": lambda kv: (torch.nn.functional.linear(kv, weight), None),
        **{"w_kc": data.up[:, :nope], "w_vc": data.up[:, nope:].transpose(1, 2).contiguous()},
    }


def _as_loaded(engine: Engine, data: CellData, slot: int) -> dict[str, Any]:
    """Attributes of DeepseekV2AttentionMLA (sglang/srt/models/deepseek_v2.py), whose own projections of the hidden states give out what
    they are handed: queries, and latent vectors without a norm of their own."""
    kind = data.cell.layer
    assert kind.projected_from is not None
    width, rank = kind.projected_from
    nope, heads = kind.head_dim - (width - rank), kind.query_heads
    absorbed = {"num_heads": heads, "num_kv_heads": 1, "head_dim": width, "v_head_dim": rank}
    plain = {"num_heads": heads, "num_kv_heads": heads, "head_dim": kind.head_dim, "v_head_dim": kind.value_head_dim}
    return {
        **{"layer_id": slot, "num_local_heads": heads, "q_lora_rank": None, "kv_lora_rank": rank, "v_head_dim": kind.value_head_dim},
        **{"qk_nope_head_dim": nope, "qk_rope_head_dim": width - rank, "qk_head_dim": kind.head_dim, "scaling": kind.softmax_scale},
        **{"rotary_emb": None, "alt_stream": None, "use_dsa": False, "use_deep_gemm_bmm": False, "next_skip_topk": None, "dcp_size": 1},
        **{"current_attention_backend": engine.arm.backend, "kv_cache_dtype": engine.runner.server_args.kv_cache_dtype},
        **{"attn_mqa": attention_layer(engine, data, slot, **absorbed), "attn_mha": attention_layer(engine, data, slot, **plain)},
        **{"q_proj": lambda handed: handed[:1], "kv_a_proj_with_mqa": lambda handed: handed[1:], "kv_a_layernorm": lambda kv: kv},
        "o_proj": lambda output: (output, None),
    }
