"""What vLLM itself is asked about a scenario (`backends.vllm.asked`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backends.latent import LATENT
from backends.model import Attention, LayerKind, Model
from backends.question import Question
from backends.vllm.models import fullest, indexed, sees_prefixes
from store.scenario import Role, Scenario
from tuner.engines.vllm.orders import names_for
from tuner.engines.vllm.questions import question_for
from tuner.engines.vllm.rules import default_page_size

SIMULATED = "cuda"
MACHINE = ("name", "sm", "memory_bytes", "sm_count")


def question(
    scenario: Scenario, rules: str, packages: Mapping[str, str] | None, checkpoint: Mapping[str, Any] | None, simulated: bool
) -> dict[str, Any]:
    """``checkpoint`` is the model's own config.json, None for a preset. ``simulated``: vLLM is made to believe in the scenario's GPU."""
    model, gpu, engine = scenario.model, scenario.gpu, scenario.engine
    if simulated and gpu.kind != SIMULATED:
        return {"unknown": f"attnpin makes vLLM believe in NVIDIA GPUs alone, not in {gpu.name}"}
    if any(kind.head_dim != kind.value_head_dim for kind in model.layers) and model.attention is Attention.MHA:
        return {"unknown": f"{model.architecture} chooses its backend in its own code, since its V is of another width than its K"}
    text = _preset_text(model) if checkpoint is None else {**checkpoint, **dict(checkpoint.get("text_config") or {})}
    if text is None:
        return {"unknown": f"the widths of {model.architecture}'s latent attention are not known; give model=hf its config.json"}
    asked = question_for(scenario, rules, default_page_size(gpu), packages=packages)
    most = fullest(asked.layers)
    return {
        "machine": {name: getattr(gpu, name) for name in MACHINE} if simulated else None,
        "environment": {"VLLM_BATCH_INVARIANT": "1"} if "deterministic" in engine.features else {},
        "layers": {kind.name: _selector_fields(asked, kind, engine.role) for kind in asked.layers},
        "heads": {kind.name: kind.query_heads for kind in asked.layers},
        "default": most.name,
        "backend": engine.attention_backend,
        "judged": names_for(gpu.kind, model.attention.value),
        "config": {
            **{"text_config": text, "head_size": most.head_dim, "query_heads": most.query_heads, "kv_heads": most.kv_heads},
            **{"mm_prefix": sees_prefixes(model), "kv_cache_dtype": asked.kv_flag, "block_size": asked.set_page_size},
            **{"tensor": engine.tensor_parallel, "pcp": asked.attn_cp_size, "dcp": asked.dcp_size},
        },
    }


def _selector_fields(asked: Question, kind: LayerKind, role: Role) -> dict[str, Any]:
    """Those of `AttentionSelectorConfig` that a scenario says something of."""
    return {
        "head_size": kind.head_dim,
        "dtype": asked.model.dtype,
        "kv_cache_dtype": asked.kv_flag,
        "block_size": asked.set_page_size,
        "use_mla": asked.model.attention is Attention.MLA,
        "has_sink": kind.sinks,
        "use_sparse": asked.model.attention is Attention.MLA and indexed(asked.model),
        "use_mm_prefix": sees_prefixes(asked.model),
        "attn_type": _attention_type(asked),
        "has_sliding_window": kind.sliding_window is not None,
        "use_batch_invariant": "deterministic" in asked.features,
        "use_kv_connector": role is not Role.UNIFIED,
        "use_pcp": asked.attn_cp_size > 1,
        "use_dcp": asked.dcp_size > 1,
    }


def _attention_type(asked: Question) -> str:
    """The rarest that the scenario's features name."""
    kinds = {"encoder_only": "encoder_only", "cross_attention": "encoder_decoder"}
    return next((kinds[name] for name in kinds if name in asked.features), "decoder")


def _preset_text(model: Model) -> dict[str, Any] | None:
    """What of a checkpoint's configuration vLLM's backends read; None where it is not known."""
    capped = {"attn_logit_softcapping": model.logit_softcap} if model.logit_softcap else {}
    if model.attention is not Attention.MLA:
        return capped
    latent, layer = LATENT.get(model.architecture), model.layers[0]
    if latent is None:
        return None
    return {
        **capped,
        **{"qk_nope_head_dim": latent.nope, "qk_rope_head_dim": layer.head_dim - layer.value_head_dim},
        **{"kv_lora_rank": layer.value_head_dim, "v_head_dim": latent.value},
        **({"index_topk": latent.index_topk} if latent.index_topk else {}),
    }
