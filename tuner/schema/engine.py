"""The engine as it is launched."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from tuner.schema import MISSING

VerifySide = Enum("VerifySide", ["prefill", "decode"])
Role = Enum("Role", ["unified", "prefill", "decode"])
# Words of --kv-cache-dtype: sglang/srt/arg_groups/fields/model.py (0.5.22); vllm/config/cache.py, CacheDType (0.33.0)
KV_CACHE_DTYPES = {
    "sglang": ("auto", "bf16", "bfloat16", "fp8_e4m3", "fp8_e5m2", "mxfp8", "nvfp4", "fp4_mx_block16"),
    "vllm": (
        *("auto", "float16", "bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2", "fp8_inc", "fp8_ds_mla", "nvfp4_ds_mla", "nvfp4", "nvfp4_4over6"),
        *("int4_per_token_head", "int8_per_token_head", "fp8_per_token_head", "turboquant_k8v4", "turboquant_4bit_nc"),
        *("turboquant_k3v4_nc", "turboquant_3bit_nc", "octave_k3v4", "octave_k3v3", "octave_k3v3_compact", "ultraquant_4bit"),
    ),
}
# Words of --speculative-algorithm, of all releases: sglang/srt/speculative/spec_info.py (0.5.22)
ALGORITHMS = {"sglang": ("DFLASH", "DSPARK", "EAGLE", "EAGLE3", "FROZEN_KV_MTP", "STANDALONE", "NGRAM", "NONE", "NEXTN", "UNO")}
KvCacheDtype = Enum(  # the words of all
    "KvCacheDtype",
    "auto bf16 bfloat16 fp8_e4m3 fp8_e5m2 mxfp8 nvfp4 fp4_mx_block16 float16 fp8 fp8_inc fp8_ds_mla nvfp4_ds_mla "
    "nvfp4_4over6 int4_per_token_head int8_per_token_head fp8_per_token_head turboquant_k8v4 turboquant_4bit_nc "
    "turboquant_k3v4_nc turboquant_3bit_nc octave_k3v4 octave_k3v3 octave_k3v3_compact ultraquant_4bit",
)


@dataclass
class SpeculationNode:
    algorithm: str | None = None
    topk: int | None = None
    steps: int | None = None
    draft_tokens: int | None = None
    draft_backend: str | None = None
    attention_mode: VerifySide | None = None
    accepted_length: float | None = None


@dataclass
class EngineNode:
    name: str = MISSING
    version: str = MISSING
    tensor_parallel: int = 1
    attn_dp_size: int = 1
    attn_cp_size: int = 1
    dcp_size: int = 1
    role: Role = Role.unified
    command: list[str] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    speculative: SpeculationNode = field(default_factory=SpeculationNode)
    kv_cache_dtype: KvCacheDtype = KvCacheDtype.auto
    page_size: int | None = None
    context_length: int | None = None
    features: list[str] = field(default_factory=list)
    attention_backend: str | None = None
    prefill_attention_backend: str | None = None
    decode_attention_backend: str | None = None
    mem_fraction_static: float | None = None
    allow_serving_jit: bool = False
    pipeline_parallel: int = 1
    disable_cuda_graph: bool = False
    cuda_graph_max_bs: int | None = None
    cuda_graph_bs: list[int] = field(default_factory=list)
    hierarchical_cache: bool = False
    swa_full_tokens_ratio: float | None = None
    disable_hybrid_swa_memory: bool = False
    allow_fp8_kv: bool = False
    allow_deviations: bool = False
    mixed_chunk: bool = False
