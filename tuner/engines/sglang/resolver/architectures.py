"""Lists of architectures that SGLang's rules ask for, by release.

Source: sglang/srt/configs/model_config.py (multimodal_model_archs and its neighbours), sglang/srt/arg_groups/overrides.py.
"""

from __future__ import annotations

# fmt: off
INKLING = ("InklingForConditionalGeneration", "InklingForConditionalGenerationMTP")
GLM5_NEXT = "Glm5NextForConditionalGeneration"
MINIMAX_M3 = ("MiniMaxM3SparseForCausalLM", "MiniMaxM3SparseForConditionalGeneration")

# Text by default although their checkpoints hold more: Gemma3, Llama4, Step3-VL and Inkling; MiMoV2 where no vision part is declared.
_MULTIMODAL_16 = frozenset((
    "CLIPModel", "Cohere2VisionForConditionalGeneration", "DeepseekOCRForCausalLM", "DeepseekVL2ForCausalLM", "DotsOCRForCausalLM",
    "DotsVLMForCausalLM", "Ernie4_5_VLMoeForConditionalGeneration", "Gemma3nForConditionalGeneration", "Gemma4ForConditionalGeneration",
    "Gemma4UnifiedForConditionalGeneration", "Glm4vForConditionalGeneration", "Glm4vMoeForConditionalGeneration",
    "GlmAsrForConditionalGeneration", "GlmImageForConditionalGeneration", "GlmOcrForConditionalGeneration", "Grok1AForCausalLM",
    "Grok1VForCausalLM", "InternS1ForConditionalGeneration", "InternS1ProForConditionalGeneration",
    "InternS2PreviewForConditionalGeneration", "InternVLChatModel", "JetVLMForConditionalGeneration", "KimiK25ForConditionalGeneration",
    "KimiVLForConditionalGeneration", "Lfm2VlForConditionalGeneration", "LightOnOCRForConditionalGeneration",
    "LlavaForConditionalGeneration", "LlavaLlamaForCausalLM", "LlavaMistralForCausalLM", "LlavaQwenForCausalLM", "LlavaVidForCausalLM",
    "LocateAnythingForConditionalGeneration", "MiDashengLMModel", "MiMoV2ASRForCausalLM", "MiniCPMO", "MiniCPMV",
    "MiniMaxM3SparseForConditionalGeneration", "Mistral3ForConditionalGeneration", "MllamaForConditionalGeneration",
    "MossVLForConditionalGeneration", "MultiModalityCausalLM", "NVILAForConditionalGeneration", "NVILALiteForConditionalGeneration",
    "NemotronH_Nano_Omni_Reasoning_V3", "NemotronH_Nano_VL_V2", "POINTSV15ChatModel", "PaddleOCRVLForConditionalGeneration",
    "Phi4MMForCausalLM", "PixtralForConditionalGeneration", "Qwen2AudioForConditionalGeneration", "Qwen2VLForConditionalGeneration",
    "Qwen2_5_VLForConditionalGeneration", "Qwen3ASRForConditionalGeneration", "Qwen3OmniMoeForConditionalGeneration",
    "Qwen3VLForConditionalGeneration", "Qwen3VLMoeForConditionalGeneration", "Qwen3_5ForConditionalGeneration",
    "Qwen3_5MoeForConditionalGeneration", "Sarashina2VisionForCausalLM", "Step3p7ForConditionalGeneration",
    "StepVLForConditionalGeneration", "UnlimitedOCRForCausalLM", "VoxtralForConditionalGeneration", "WhisperForConditionalGeneration",
))
_MULTIMODAL_22 = _MULTIMODAL_16 | frozenset((
    "BailingMM2NativeForConditionalGeneration", "BailingMMNativeForConditionalGeneration", "BailingMoeV3VLForConditionalGeneration",
    "Cosmos3EdgeForConditionalGeneration", "DiffusionGemmaForBlockDiffusion", "Dots3NoteForCausalLM", "EmbeddingGemma2Model",
    "Glm5NextForConditionalGeneration", "InternS2MobiusForConditionalGeneration", "MuseGlimmerForConditionalGeneration",
    "NemotronH_Omni_Reasoning_V3", "Qwen4ExpForConditionalGeneration",
))
MULTIMODAL = {
    "0.5.16": _MULTIMODAL_16,
    "0.5.22": _MULTIMODAL_22,
    "0.5.23": _MULTIMODAL_22 | {"MuseSparkForConditionalGeneration"},
}

# Multimodal models whose prefill was validated under breakable graphs.
_BREAKABLE_16 = frozenset(("Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration"))
_BREAKABLE_22 = _BREAKABLE_16 | frozenset((
    "Cohere2VisionForConditionalGeneration", "Glm5NextForConditionalGeneration", "InternS2MobiusForConditionalGeneration",
    "KimiK25ForConditionalGeneration", "KimiK3ForConditionalGeneration", "MiniMaxM3SparseForCausalLM",
    "MiniMaxM3SparseForConditionalGeneration", "MuseGlimmerForConditionalGeneration", "PaddleOCRVLForConditionalGeneration",
    "Qwen4ExpForConditionalGeneration",
))
BREAKABLE = {
    "0.5.16": _BREAKABLE_16,
    "0.5.22": _BREAKABLE_22,
    "0.5.23": _BREAKABLE_22 | {"MuseSparkForConditionalGeneration"},
}
# Piecewise graphs: for these multimodal models yes, for those no (0.5.16).
PIECEWISE = frozenset(("Cohere2VisionForConditionalGeneration", "KimiK25ForConditionalGeneration", *MINIMAX_M3))
NO_PIECEWISE = frozenset(("DeepseekV4ForCausalLM", "Qwen3NextForCausalLM", "BailingMoeV2_5ForCausalLM", "LLaDAModelLM"))

# Encoders over a whole prompt, which no chunk may cut.
WHOLE_PROMPTS = frozenset((
    "Grok1VForCausalLM", "Grok1AForCausalLM", "LlavaLlamaForCausalLM", "MllamaForConditionalGeneration", "MossVLForConditionalGeneration",
    "CLIPModel",
))
ENCODER_DECODER = ("WhisperForConditionalGeneration", "MllamaForConditionalGeneration", "MossVLForConditionalGeneration")

# Softmax and recurrent layers mixed: their prefix cache keeps states beside keys.
_MAMBA_16 = frozenset((
    "KimiLinearForCausalLM", "BailingMoeV2_5ForCausalLM", "Qwen3NextForCausalLM", "Qwen3_5MoeForConditionalGeneration",
    "InternS2PreviewForConditionalGeneration", "Qwen3_5ForConditionalGeneration", "MiniCPMV4_6ForConditionalGeneration",
    "NemotronHForCausalLM", "NemotronHPuzzleForCausalLM", "FalconH1ForCausalLM", "JetNemotronForCausalLM",
    "JetVLMForConditionalGeneration", "Lfm2ForCausalLM", "ZayaForCausalLM",
))
_MAMBA_22 = _MAMBA_16 | frozenset((
    "KimiK3ForConditionalGeneration", "BailingMoeV3ForCausalLM", "BailingMoeV3VLForConditionalGeneration",
    "InternS2MobiusForConditionalGeneration", "Qwen3_5MoeForCausalLM", "Qwen3_5ForCausalLM", "Qwen4ExpForConditionalGeneration",
    "NemotronH_Omni_Reasoning_V3", "Lfm2MoeForCausalLM", "Glm5NextForConditionalGeneration",
))
MAMBA = {"0.5.16": _MAMBA_16, "0.5.22": _MAMBA_22, "0.5.23": _MAMBA_22 | {"MiniCPMV4_7ForConditionalGeneration"}}

# Of those, the ones whose states may be snapshot while the scheduler overlaps.
_EXTRA_16 = frozenset((
    "KimiLinearForCausalLM", "Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration", "Qwen3NextForCausalLM",
    "InternS2PreviewForConditionalGeneration", "MiniCPMV4_6ForConditionalGeneration", "BailingMoeV2_5ForCausalLM", "FalconH1ForCausalLM",
    "GraniteMoeHybridForCausalLM", "NemotronHForCausalLM", "NemotronHPuzzleForCausalLM",
))
_EXTRA_22 = _EXTRA_16 | frozenset((
    "Qwen3_5MoeForCausalLM", "Qwen3_5ForCausalLM", "Qwen4ExpForConditionalGeneration", "BailingMoeV3ForCausalLM",
    "BailingMoeV3VLForConditionalGeneration", "Glm5NextForConditionalGeneration", "NemotronH_Omni_Reasoning_V3",
    "KimiK3ForConditionalGeneration", "InklingForConditionalGeneration", "InklingForConditionalGenerationMTP",
))
EXTRA_BUFFER = {"0.5.16": _EXTRA_16, "0.5.22": _EXTRA_22, "0.5.23": _EXTRA_22 | {"MiniCPMV4_7ForConditionalGeneration"}}

DEEPSEEK_16 = (
    *("DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM", "KimiK25ForConditionalGeneration", "MistralLarge3ForCausalLM"),
    *("PixtralForConditionalGeneration", "GlmMoeDsaForCausalLM", "LongcatFlashForCausalLM", "LongcatFlashForCausalLMNextN"),
)
DEEPSEEK_22 = (*DEEPSEEK_16, GLM5_NEXT, "HYV4ForCausalLM", "HYV4ForCausalLMNextN", "Dots3NoteForCausalLM")
