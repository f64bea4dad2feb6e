"""Which of SGLang's rule sets applies, and what the engine fills in before its rules look at it."""

from __future__ import annotations

from backends.limits import release
from backends.model import Model
from backends.question import RULES
from store.scenario import Speculation

# Architectures whose default backend SGLang replaces before it asks its own tree (sglang/srt/arg_groups/model_overrides/,
# 0.5.22); value: the file. These overrides are not applied here, only named.
MODEL_OVERRIDES = {
    architecture: module
    for module, architectures in {
        "deepseek_v2": "DeepseekV3ForCausalLM DeepseekV32ForCausalLM KimiK25ForConditionalGeneration MistralLarge3ForCausalLM "
        "PixtralForConditionalGeneration GlmMoeDsaForCausalLM Glm5NextForConditionalGeneration HYV4ForCausalLM "
        "LongcatFlashForCausalLM Dots3NoteForCausalLM",
        "deepseek_v4": "DeepseekV4ForCausalLM",
        "embedding_gemma2": "EmbeddingGemma2Model",
        "exaone": "Exaone4ForCausalLM ExaoneMoEForCausalLM ExaoneMoeForCausalLM",
        "falcon_h1": "FalconH1ForCausalLM JetNemotronForCausalLM JetVLMForConditionalGeneration",
        "gemma4": "Gemma4ForCausalLM Gemma4ForConditionalGeneration Gemma4UnifiedForConditionalGeneration DiffusionGemmaForBlockDiffusion",
        "gpt_oss": "GptOssForCausalLM",
        "granitemoehybrid": "GraniteMoeHybridForCausalLM",
        "inkling": "InklingForConditionalGeneration",
        "iquest_q1": "IQuestQ1ForCausalLM IQuestQ1MTP",
        "kimi_k3": "KimiK3ForConditionalGeneration",
        "lfm2": "Lfm2ForCausalLM Lfm2MoeForCausalLM",
        "llama4": "Llama4ForCausalLM Llama4ForConditionalGeneration",
        "mimo_v2": "MiMoV2ForCausalLM MiMoV2FlashForCausalLM",
        "minicpm": "MiniCPMForCausalLM MiniCPMSALAForCausalLM",
        "minicpmv": "MiniCPMV4_6ForConditionalGeneration",
        "minimax_m3": "MiniMaxM3SparseForCausalLM MiniMaxM3SparseForConditionalGeneration",
        "moss_vl": "MossVLForConditionalGeneration",
        "nemotron_h": "NemotronHForCausalLM NemotronHPuzzleForCausalLM NemotronH_Omni_Reasoning_V3",
        "olmo2": "Olmo2ForCausalLM",
        "qwen3_5": "Qwen3NextForCausalLM Qwen3_5ForConditionalGeneration Qwen3_5MoeForConditionalGeneration "
        "InternS2MobiusForConditionalGeneration InternS2PreviewForConditionalGeneration",
        "qwen3_vl": "Qwen3VLForConditionalGeneration Qwen3VLMoeForConditionalGeneration",
        "qwen4_exp": "Qwen4ExpForConditionalGeneration",
    }.items()
    for architecture in architectures.split()
}

WIDE_DRAFTS = ("LlamaForCausalLM", "Grok1ForCausalLM", "Grok1VForCausalLM")
NGRAM_TOPK = 10
MAX_RUNNING_WITH_DRAFTS = 48


def rules_for(version: str) -> tuple[str, str | None]:
    """The nearest rule set to ``version``, the newer at equal distance, and a note unless it is that version's own."""
    if version in RULES:
        return version, None
    wanted = _place(version)
    nearest = min(reversed(RULES), key=lambda rules: abs(_place(rules) - wanted))
    return nearest, f"no rules of SGLang {version} are known; those of {nearest}, the nearest, were applied"


def _place(version: str) -> int:
    """A version as one number whose differences order by major, minor, then patch."""
    major, minor, patch, *_ = (*release(version), 0, 0, 0)
    return (major * 1000 + minor) * 1000 + patch


def final_topk(model: Model, speculation: Speculation) -> int:
    """The draft width the server ends up with; 0 without speculation.

    Source: sglang/srt/arg_groups/speculative_hook.py, _auto_choose_speculative_params and _handle_ngram (0.5.16, 0.5.22).
    """
    if speculation.algorithm is None:
        return 0
    if speculation.algorithm == "NGRAM":
        return NGRAM_TOPK
    if speculation.topk is not None:
        return speculation.topk
    wide = speculation.algorithm != "STANDALONE" and model.architecture in WIDE_DRAFTS
    return 4 if wide else 1


def resolved_kv_dtype(model: Model, flag: str) -> str:
    """The KV pool's dtype, as a torch name where torch has one. "auto" is the checkpoint's declared dtype, else the model's.

    Source: sglang/srt/mem_cache/kv_cache_dtype.py, configure_kv_cache_dtype.
    """
    names = {"bf16": "bfloat16", "fp8_e4m3": "float8_e4m3fn", "fp8_e5m2": "float8_e5m2"}
    if flag == "auto":
        return model.declared_kv_dtype or model.dtype
    return names.get(flag, flag)
