"""Families of models that backends tell apart, by the architecture of the checkpoint."""

from __future__ import annotations

# Layers that attend to keys an index of the model's own chooses: sglang/srt/configs/model_config.py, is_deepseek_dsa (0.5.22).
INDEXED = (
    *("DeepseekV32ForCausalLM", "GlmMoeDsaForCausalLM", "Glm5NextForConditionalGeneration", "HYV4ForCausalLM"),
    "Dots3NoteForCausalLM",
)
# Attention beside gated delta networks: sglang/srt/configs/hybrid_arch.py, hybrid_gdn_config (0.5.16 and 0.5.22).
GATED_DELTA = (
    *("Qwen3NextForCausalLM", "Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration"),
    *("InternS2PreviewForConditionalGeneration", "JetNemotronForCausalLM", "JetVLMForConditionalGeneration"),
)
