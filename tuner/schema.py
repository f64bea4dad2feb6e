"""What the configuration may hold: names, types, allowed words. Hydra checks every YAML file and override against it.

The classes are mutable, since Hydra makes the node of a frozen one read-only for overrides; `tuner.settings` turns the
composed tree into frozen records. An Enum's members are the words a user writes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Any

MISSING: Any = "???"  # OmegaConf's mark for a value that a file must give

Attention = Enum("Attention", ["mha", "mla"])
GpuKind = Enum("GpuKind", ["auto", "cuda", "cpu", "rocm", "xpu", "npu", "mps"])
Phase = Enum("Phase", ["decode", "prefill"])
Misfortune = Enum(
    "Misfortune",
    "foreign_process thermal power_brake power_cap power_limit starved slow_clock ecc xid out_of_memory refused falls_back nans lost_key "
    "unwritten warm_cache partly_warm uneven overlaps crowded scattered graph_penalty stale_graph other_kernel waits "
    "slow_build crash hang killed",
)
PageLayout = Enum("PageLayout", ["served", "random", "contiguous"])
Condition = Enum("Condition", ["sandwich", "random_pages"])
Role = Enum("Role", ["unified", "prefill", "decode"])
Objective = Enum("Objective", ["throughput", "tpot", "ttft"])
ModelDtype = Enum("ModelDtype", ["bfloat16", "float16", "float32"])
# Words of --kv-cache-dtype: sglang/srt/arg_groups/fields/model.py (0.5.22); vllm/config/cache.py, CacheDType (0.33.0)
KV_CACHE_DTYPES = {
    "sglang": ("auto", "bf16", "bfloat16", "fp8_e4m3", "fp8_e5m2", "mxfp8", "nvfp4", "fp4_mx_block16"),
    "vllm": (
        *("auto", "float16", "bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2", "fp8_inc", "fp8_ds_mla", "nvfp4_ds_mla", "nvfp4", "nvfp4_4over6"),
        *("int4_per_token_head", "int8_per_token_head", "fp8_per_token_head", "turboquant_k8v4", "turboquant_4bit_nc"),
        *("turboquant_k3v4_nc", "turboquant_3bit_nc", "octave_k3v4", "octave_k3v3", "octave_k3v3_compact", "ultraquant_4bit"),
    ),
}
KvCacheDtype = Enum(  # the words of all
    "KvCacheDtype",
    "auto bf16 bfloat16 fp8_e4m3 fp8_e5m2 mxfp8 nvfp4 fp4_mx_block16 float16 fp8 fp8_inc fp8_ds_mla nvfp4_ds_mla "
    "nvfp4_4over6 int4_per_token_head int8_per_token_head fp8_per_token_head turboquant_k8v4 turboquant_4bit_nc "
    "turboquant_k3v4_nc turboquant_3bit_nc octave_k3v4 octave_k3v3 octave_k3v3_compact ultraquant_4bit",
)


@dataclass
class LayerKindNode:
    name: str = MISSING
    layers: int = MISSING
    query_heads: int = MISSING
    kv_heads: int = MISSING
    head_dim: int = MISSING
    value_head_dim: int = MISSING
    sliding_window: int | None = None
    sinks: bool = False
    scale: float | None = None


@dataclass
class ModelNode:
    name: str = MISSING
    architecture: str = MISSING
    attention: Attention = MISSING
    layers: list[LayerKindNode] = MISSING
    hidden_size: int = MISSING
    vocab_size: int = MISSING
    params_total: float = MISSING
    params_active: float = MISSING
    dtype: ModelDtype = MISSING
    context_length: int = MISSING
    source: str = MISSING
    logit_softcap: float | None = None
    declared_kv_dtype: str | None = None
    weight_bits: float | None = None
    attention_params: float | None = None
    other_layers: int = 0
    required_backend: str | None = None
    config_sha256: str | None = None
    path: str | None = None


@dataclass
class NoiseNode:
    common_pct: float = 0.0
    process_pct: float = 0.0
    modes_pct: float = 0.0
    drift_pct_per_minute: float = 0.0
    transient_pct: float = 0.0
    transient_s: float = 1.0
    visit_pct: float = 0.0
    sample_pct: float = 0.0
    spike_share: float = 0.0
    spike_pct: float = 0.0


@dataclass
class FactorNode:
    decode: float = 1.0
    prefill: float = 1.0


@dataclass
class ReleaseNode:
    module: str = MISSING
    version: str = MISSING
    backend: str = MISSING
    phase: Phase | None = None
    factor: float = MISSING


@dataclass
class FaultNode:
    kind: Misfortune = MISSING
    backend: str | None = None
    phase: Phase | None = None
    cell: str | None = None
    process: int | None = None
    after_s: float = 0.0
    for_s: float | None = None
    seconds: float = 60.0


@dataclass
class SimulatedNode:
    seed: int = 0
    power_limit_w: float = MISSING
    max_sm_clock_mhz: int = MISSING
    telling: bool = True
    recording: str | None = None
    versions: dict[str, str] = field(default_factory=dict)
    noise: NoiseNode = field(default_factory=NoiseNode)
    factor: dict[str, FactorNode] = field(default_factory=dict)
    releases: list[ReleaseNode] = field(default_factory=list)
    faults: list[FaultNode] = field(default_factory=list)


@dataclass
class GpuNode:
    name: str = MISSING
    kind: GpuKind = MISSING
    sm: int | None = None
    sm_count: int | None = None
    memory_bytes: int | None = None
    l2_bytes: int | None = None
    bandwidth_bytes_per_s: float | None = None
    peak_flops: float | None = None
    peak_flops_fp8: float | None = None
    smem_per_block_bytes: int | None = None
    cuda: str | None = None
    amx: bool = False
    arch: str | None = None
    source: str = MISSING
    simulated: SimulatedNode | None = None


@dataclass
class LengthsNode:
    median_tokens: int = MISSING
    p95_tokens: int = MISSING


@dataclass
class TrafficNode:
    name: str = MISSING
    prompt: LengthsNode = field(default_factory=LengthsNode)
    output: LengthsNode = field(default_factory=LengthsNode)
    concurrency: int = MISSING
    cached_share: float = MISSING
    source: str = MISSING
    shared_prefix_tokens: int = 0


@dataclass
class SpeculationNode:
    algorithm: str | None = None
    topk: int | None = None
    steps: int | None = None
    draft_tokens: int | None = None
    draft_backend: str | None = None


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


@dataclass
class TimingNode:
    blocks: int = MISSING
    replays: int = MISSING
    replay_ms: float = MISSING
    discard_ms: float = MISSING
    warmup_s: float = MISSING
    warmup_cap_s: float = MISSING
    build_limit_s: float = MISSING
    trial_limit_s: float = MISSING


@dataclass
class MeasureNode:
    profile: str = MISSING
    processes: int = MISSING
    memory_fraction: float = MISSING
    backends: list[str] = field(default_factory=list)
    seed: int = 0
    budget_s: float | None = None
    import_ahead: bool = False
    page_layout: PageLayout = PageLayout.served
    sensitivity: list[Condition] = field(default_factory=list)
    variants: list[dict[str, str]] = field(default_factory=list)
    timing: TimingNode = field(default_factory=TimingNode)


@dataclass
class DecideNode:
    objective: Objective = Objective.throughput
    min_gain: float = MISSING
    max_cell_loss: float = MISSING
    tie_margin: float = MISSING
    confidence: float = MISSING
    sigma_floor: float = MISSING


@dataclass
class StoreNode:
    url: str = MISSING


@dataclass
class PinNode:
    path: str = MISSING


@dataclass
class Root:
    model: ModelNode = field(default_factory=ModelNode)
    gpu: GpuNode = field(default_factory=GpuNode)
    traffic: TrafficNode = field(default_factory=TrafficNode)
    engine: EngineNode = field(default_factory=EngineNode)
    measure: MeasureNode = field(default_factory=MeasureNode)
    decide: DecideNode = field(default_factory=DecideNode)
    store: StoreNode = field(default_factory=StoreNode)
    backends: dict[str, Any] = field(default_factory=dict)
    pin: PinNode = field(default_factory=PinNode)
    fresh: bool = False
    without_default: bool = False
    explain: bool = False
    wait_for_gpu: str | None = None
    ask_limit: str = MISSING


@cache
def register() -> None:
    """Makes `schema` known to Hydra; the first entry of every root config's defaults."""
    from hydra.core.config_store import ConfigStore

    ConfigStore.instance().store(name="schema", node=Root)
