"""Models that SGLang is asked about: a written config.json each, and the facts our rules are given. Every architecture with a rule is here.

A configuration is a small Llama's under the architecture's name, with the attributes that argument resolution reads.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.sglang.asked.plain import PLAIN
from tuner.engines.sglang.model_config import INDEXED
from tuner.engines.sglang.resolver.request import ModelFacts

Config = dict[str, Any]

LATENT: Config = {
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
}


@dataclass(frozen=True)
class Asked:
    """``since``: the oldest release that serves the architecture."""

    name: str
    config: Config
    facts: ModelFacts
    since: str = "0.5.16"


def _plain(architecture: str, config: Config | None = None, since: str = "0.5.16", name: str | None = None, **facts: Any) -> Asked:
    return Asked(
        name or architecture, {**PLAIN, "architectures": [architecture], **(config or {})}, ModelFacts(architecture, **facts), since
    )


def _latent(architecture: str, config: Config | None = None, since: str = "0.5.16", **facts: Any) -> Asked:
    return _plain(architecture, {**LATENT, **(config or {})}, since, mla=True, kv_heads=128, **facts)


def _indexed(architecture: str, config: Config | None = None, since: str = "0.5.16", name: str | None = None, **facts: Any) -> Asked:
    merged = {**LATENT, **INDEXED, **(config or {})}
    return _plain(architecture, merged, since, name or f"{architecture}-sparse", mla=True, sparse=True, kv_heads=128, **facts)


NEW = "0.5.22"
WINDOWED: Config = {"sliding_window_pattern": "LLLG"}
ALTERNATING: Config = {
    "model_type": "qwen3",
    "layer_types": ["sliding_attention", "full_attention"] * 2,
    "sliding_window": 512,
    "use_sliding_window": True,
}
MIMO: Config = {"v_head_dim": 64, "hybrid_layer_pattern": [0, 1, 1, 0]}
QSA: Config = {"indexer_n_heads": 8, "indexer_kv_heads": 1, "indexer_head_dim": 128, "indexer_budget": 2048, "indexer_compress_ratio": 4}
V4: Config = {
    "head_dim": 512,
    "qk_rope_head_dim": 64,
    "sliding_window": 128,
    "index_head_dim": 128,
    "compress_ratios": [0, 4, 128, 4],
    "rope_scaling": {"rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 65536, "beta_fast": 32, "beta_slow": 1},
}
TIED: Config = {
    "model_type": "gemma3",
    "tie_word_embeddings": True,
    "text_config": {**PLAIN, **ALTERNATING, "model_type": "gemma3_text", "tie_word_embeddings": True},
}
KDA: Config = {"linear_attn_config": {"kda_layers": [1, 2], "full_attn_layers": [3, 4]}}

MODELS: tuple[Asked, ...] = (
    *(_plain(name) for name in ("LlamaForCausalLM", "Qwen3ForCausalLM", "Qwen3MoeForCausalLM", "Gemma3ForCausalLM", "Grok1ForCausalLM")),
    *(_plain(name) for name in ("Glm4MoeForCausalLM", "Gemma4ForCausalLM", "Gemma4ForConditionalGeneration", "Olmo2ForCausalLM")),
    *(_plain(name) for name in ("Gemma4UnifiedForConditionalGeneration", "FalconH1ForCausalLM", "JetNemotronForCausalLM")),
    *(_plain(name) for name in ("JetVLMForConditionalGeneration", "Lfm2ForCausalLM", "MiniMaxM3SparseForCausalLM", "NemotronHForCausalLM")),
    *(
        _plain(name)
        for name in ("MiniMaxM3SparseForConditionalGeneration", "NemotronHPuzzleForCausalLM", "MiniCPMV4_6ForConditionalGeneration")
    ),
    *(_plain(name) for name in ("Qwen3NextForCausalLM", "Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration")),
    *(_plain(name) for name in ("InternS2PreviewForConditionalGeneration", "MossVLForConditionalGeneration", "ZayaForCausalLM")),
    *(
        _plain(name)
        for name in ("WhisperForConditionalGeneration", "MllamaForConditionalGeneration", "SDARForCausalLM", "LLaDA2MoeModelLM")
    ),
    *(_plain(name) for name in ("Llama4ForCausalLM", "Llama4ForConditionalGeneration", "HrmTextForCausalLM", "LLaDAModelLM")),
    *(_plain(name, since=NEW) for name in ("EmbeddingGemma2Model", "Lfm2MoeForCausalLM", "NemotronH_Omni_Reasoning_V3")),
    *(_plain(name, since=NEW) for name in ("InternS2MobiusForConditionalGeneration",)),
    _plain("LlamaForCausalLM", {"max_position_embeddings": 8192}, name="llama-short", context_length=8192),
    _plain("LlamaForCausalLM", {"v_head_dim": 64}, name="llama-unequal", unequal_widths=True),
    _plain("GptOssForCausalLM", sinks=True),
    _plain("GraniteSWAForCausalLM", ALTERNATING, NEW, sinks=True),
    _plain(
        "GraniteMoeHybridForCausalLM",
        {"layer_types": ["mamba", "attention"] * 2, "model_type": "granitemoehybrid", "mamba_d_head": 64, "mamba_n_heads": 128},
        mamba_layers=True,
    ),
    _plain("GraniteMoeHybridForCausalLM", name="granite-dense"),
    _plain("HrmTextForCausalLM", {"prefix_lm": False}, name="hrm-causal", prefix_lm=False),
    *(_plain(name, WINDOWED, windowed=True) for name in ("Exaone4ForCausalLM", "ExaoneMoEForCausalLM")),
    _plain("ExaoneMoeForCausalLM", WINDOWED, NEW, windowed=True),
    _plain("Exaone4ForCausalLM", {"sliding_window_pattern": None}, name="exaone-plain"),
    *(_plain(name, ALTERNATING) for name in ("Step3p5ForCausalLM", "Step3p7ForConditionalGeneration")),
    *(_plain(name, MIMO, unequal_widths=True) for name in ("MiMoV2ForCausalLM", "MiMoV2FlashForCausalLM")),
    *(
        _plain(name, {"model_type": kind})
        for name, kind in (("Qwen3VLForConditionalGeneration", "qwen3_vl"), ("Qwen3VLMoeForConditionalGeneration", "qwen3_vl_moe"))
    ),
    _plain("InklingForConditionalGeneration", {"local_layer_ids": [0, 2]}),
    _plain("IQuestQ1ForCausalLM", ALTERNATING, NEW, sinks=True),
    *(
        _plain(name, {"has_minicpm_sparse_attention": True}, NEW, sparse_blocks=True)
        for name in ("MiniCPMForCausalLM", "MiniCPMSALAForCausalLM")
    ),
    _plain("MiniCPMForCausalLM", name="minicpm-dense", since=NEW),
    _plain("MiniCPMSALAForCausalLM", {"has_lightning_layers": True}, NEW, "minicpm-linear", lightning=True),
    _plain("Qwen4ExpForConditionalGeneration", since=NEW),
    _plain("Qwen4ExpForConditionalGeneration", QSA, NEW, "qwen4-sparse", sparse_blocks=True),
    _plain("DiffusionGemmaForBlockDiffusion", TIED, NEW),
    _plain("BeamForCausalLM", ALTERNATING, "0.5.23"),
    _plain("MiniCPMV4_7ForConditionalGeneration", since="0.5.23"),
    _plain("MuseSparkForConditionalGeneration", ALTERNATING, "0.5.23"),
    *(_latent(name) for name in ("DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM", "LongcatFlashForCausalLM", "MistralLarge3ForCausalLM")),
    *(_latent(name) for name in ("PixtralForConditionalGeneration", "KimiK25ForConditionalGeneration", "Glm4MoeLiteForCausalLM")),
    *(_latent(name) for name in ("KimiVLForConditionalGeneration", "BailingMoeV2_5ForCausalLM")),
    *(_latent(name, since=NEW) for name in ("HYV4ForCausalLM", "BailingMoeV3ForCausalLM")),
    _latent("KimiLinearForCausalLM", KDA, kda=True),
    _latent("KimiK3ForConditionalGeneration", KDA, NEW, kda=True),
    *(_indexed(name) for name in ("DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM", "GlmMoeDsaForCausalLM", "MistralLarge3ForCausalLM")),
    _indexed("DeepseekV32ForCausalLM", {"index_kpool": 2}, NEW, "deepseek-kpool", index_kpool=2),
    _indexed("Dots3NoteForCausalLM", since=NEW),
    _indexed("Glm5NextForConditionalGeneration", KDA, NEW, kda=True),
    _indexed("HYV4ForCausalLM", {"learnable_sink": True}, NEW, "hyv4-sinks", sinks=True),
    _plain("DeepseekV4ForCausalLM", V4),
)
BY_NAME = {asked.name: asked for asked in MODELS}
DRAFTS: dict[bool, Config] = {
    causal: {**PLAIN, "architectures": ["LlamaForCausalLMEagle"], "num_hidden_layers": 2, **({"is_causal": True} if causal else {})}
    for causal in (False, True)
}


def write(folder: Path) -> None:
    """One folder a model, as SGLang reads them."""
    for asked in MODELS:
        _write(folder / asked.name, asked.config)
    for causal, config in DRAFTS.items():
        _write(draft_path(folder, causal), config)


def draft_path(folder: Path, causal: bool) -> Path:
    return folder / ("draft-causal" if causal else "draft")


def _write(folder: Path, config: Config) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
