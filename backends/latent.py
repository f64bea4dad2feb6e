"""Latent attention (MLA): what a checkpoint has beside its absorbed head, and in which of its two forms a call attends."""

from __future__ import annotations

from dataclasses import dataclass, replace

from backends.model import LayerKind


@dataclass(frozen=True)
class Latent:
    """Widths of a latent checkpoint beside its absorbed head: ``nope`` of the part of K without positions, ``value`` of V before it is
    absorbed. ``index_topk`` keys are chosen by its own index."""

    nope: int
    value: int
    index_topk: int | None = None


# config.json of the checkpoints; one that is not listed is unknown.
AS_DEEPSEEK_V3 = (
    *("DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM", "KimiK25ForConditionalGeneration", "KimiK3ForConditionalGeneration"),
    *("KimiLinearForCausalLM", "LongcatFlashForCausalLM"),
)
LATENT = {
    **dict.fromkeys(AS_DEEPSEEK_V3, Latent(128, 128)),
    "DeepseekV32ForCausalLM": Latent(128, 128, 2048),
    "GlmMoeDsaForCausalLM": Latent(192, 256, 2048),
}


# Whose layers attend to all keys: the calls of the others hang on what their index chooses, which nobody here makes up.
OF_ALL_KEYS = tuple(name for name, latent in LATENT.items() if latent.index_topk is None)


def attended(kind: LayerKind, architecture: str, generates: bool) -> LayerKind:
    """``kind`` as calls of steps that generate see it (decode, verify), or prefills. The former attend to the latent vectors themselves;
    prefill starts and ends with the heads before they are absorbed, since backends differ in whether they project keys and values up or
    queries down (sglang/srt/models/deepseek_common/attention_backend_handler.py). Unchanged where nobody listed the widths."""
    latent = LATENT.get(architecture)
    if generates or latent is None or not kind.latent:
        return kind
    rope = kind.head_dim - kind.value_head_dim
    return replace(
        kind,
        kv_heads=kind.query_heads,
        head_dim=latent.nope + rope,
        value_head_dim=latent.value,
        projected_from=(kind.head_dim, kind.value_head_dim),
    )
