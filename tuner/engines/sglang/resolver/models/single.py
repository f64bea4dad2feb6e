"""Models that have one rule or two."""

from __future__ import annotations

from tuner.engines.sglang.resolver.conditions import (
    BASE_UNSET,
    HOPPER,
    HOST_CACHED,
    SM100,
    SM120,
    UNSET,
    architecture,
    either,
    kv_dtype,
    no,
    prefill_side,
)
from tuner.engines.sglang.resolver.models.dense import FA4, TRTLLM
from tuner.engines.sglang.resolver.record import Condition, Refuses, Rule, Step, sets

MO = "sglang/srt/arg_groups/model_overrides"
MIMO_V2 = architecture("MiMoV2ForCausalLM", "MiMoV2FlashForCausalLM")
FALCON = architecture("FalconH1ForCausalLM", "JetNemotronForCausalLM", "JetVLMForConditionalGeneration")
GRANITE = architecture("GraniteMoeHybridForCausalLM")
MAMBA_LAYERS = Condition("Mamba layers", lambda r, s: r.model.mamba_layers)

MINICPM_V = Condition(
    "MiniCPM-V 4.6, from 0.5.23 on also 4.7",
    lambda r, s: (
        r.model.architecture
        in ("MiniCPMV4_6ForConditionalGeneration", *(("MiniCPMV4_7ForConditionalGeneration",) if r.version == "0.5.23" else ()))
    ),
)

MOSS = "sglang/srt/arg_groups/model_overrides/moss_vl.py, _moss_vl_overrides"
FLASHINFER, TRITON = sets(base="flashinfer"), sets(base="triton")

DENSE = (
    Rule(
        "mimo-v2.sm100",
        (MIMO_V2, SM100, UNSET),
        FA4,
        "fa4 carries V's own width.",
        f"{MO}/mimo_v2.py, _mimo_v2_overrides",
        since="0.5.22",
    ),
    Rule(
        "mimo-v2.host-cache",
        (MIMO_V2, HOST_CACHED),
        Refuses(
            "MiMo-V2 takes a hierarchical cache only with SGLANG_ENABLE_UNIFIED_RADIX_TREE=1; drop --enable-hierarchical-cache",
            "Hierarchical cache for MiMoV2 requires the unified",
        ),
        "The older tree copies keys and values of one width only.",
        "sglang/srt/server_args.py, _handle_model_specific_adjustments",
        until="0.5.16",
    ),
    Rule(
        "beam.nvidia",
        (architecture("BeamForCausalLM"), UNSET, either(HOPPER, SM100, SM120)),
        TRTLLM,
        "Beam serves on TensorRT-LLM's kernels.",
        f"{MO}/beam.py, _beam_overrides",
        since="0.5.23",
    ),
    Rule(
        "embedding-gemma2.backend",
        (architecture("EmbeddingGemma2Model"), BASE_UNSET),
        TRITON,
        "Its prompts are read in both directions.",
        f"{MO}/embedding_gemma2.py, _embedding_gemma2_overrides",
        since="0.5.22",
    ),
    Rule(
        "embedding-gemma2.radix",
        (architecture("EmbeddingGemma2Model"),),
        sets(radix_cache=False),
        "A prefix depends on what follows it.",
        f"{MO}/embedding_gemma2.py, _embedding_gemma2_overrides",
        since="0.5.22",
    ),
    Rule(
        "muse-spark.kv",
        (architecture("MuseSparkForConditionalGeneration"), kv_dtype("auto")),
        sets(kv_dtype="fp8_e4m3"),
        "It serves with an FP8 cache by default.",
        "sglang/srt/arg_groups/overrides.py, _muse_spark_overrides",
        since="0.5.23",
    ),
)

MOSS_RULES = (
    Rule("moss-vl.prefill", (UNSET,), sets(prefill="flashinfer"), "Its cross-attention needs FlashInfer's masks.", MOSS),
    Rule(
        "moss-vl.refused",
        (no(prefill_side("flashinfer")),),
        Refuses("MossVL prefills on flashinfer only; set --prefill-attention-backend flashinfer", "requires flashinfer prefill"),
        "Its cross-attention needs FlashInfer's masks.",
        MOSS,
    ),
)

HYBRID = (
    Rule(
        "falcon-h1.sm100",
        (FALCON, SM100, BASE_UNSET),
        TRITON,
        "Its recurrent layers share Triton's metadata.",
        f"{MO}/falcon_h1.py, _falcon_h1_jet_overrides",
    ),
    Rule(
        "granite.sm100",
        (GRANITE, MAMBA_LAYERS, SM100, BASE_UNSET),
        FLASHINFER,
        "Pages of TensorRT-LLM do not go with its states.",
        f"{MO}/granitemoehybrid.py, _granite_moe_hybrid_overrides",
    ),
    Rule(
        "lfm2.sm100-old",
        (architecture("Lfm2ForCausalLM"), SM100, BASE_UNSET),
        FLASHINFER,
        "Its first layer is a convolution, which Triton's metadata cannot start with.",
        f"{MO}/lfm2.py, _lfm2_overrides",
        until="0.5.16",
    ),
    Rule(
        "lfm2.sm100",
        (architecture("Lfm2ForCausalLM", "Lfm2MoeForCausalLM"), SM100, BASE_UNSET),
        FLASHINFER,
        "Its first layer is a convolution, which Triton's metadata cannot start with.",
        f"{MO}/lfm2.py, _lfm2_overrides",
        since="0.5.22",
    ),
    Rule(
        "minicpm-v.sm100",
        (MINICPM_V, SM100, BASE_UNSET),
        TRITON,
        "Its recurrent layers share Triton's metadata.",
        f"{MO}/minicpmv.py, _minicpm_v4_6_overrides",
    ),
)

MOSS_VL = architecture("MossVLForConditionalGeneration")
STEPS = (Step("models with one rule", DENSE), Step("hybrids with one rule", HYBRID), Step("MossVL", MOSS_RULES, when=(MOSS_VL,)))
