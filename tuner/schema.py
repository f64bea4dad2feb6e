"""What the configuration may hold: names, types, allowed words. Hydra checks every YAML file and override against it.

The classes are mutable, since Hydra makes the node of a frozen one read-only for overrides; `tuner.settings` turns the
composed tree into frozen records. An Enum's members are the words a user writes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

MISSING: Any = "???"  # OmegaConf's mark for a value that a file must give

Attention = Enum("Attention", ["mha", "mla"])
GpuKind = Enum("GpuKind", ["auto", "cuda", "cpu", "rocm", "xpu", "npu", "mps"])
Role = Enum("Role", ["unified", "prefill", "decode"])
Objective = Enum("Objective", ["throughput", "tpot", "ttft"])
ModelDtype = Enum("ModelDtype", ["bfloat16", "float16", "float32"])
# sglang/srt/arg_groups/fields/model.py, --kv-cache-dtype, 0.5.22
KvCacheDtype = Enum("KvCacheDtype", ["auto", "bf16", "bfloat16", "fp8_e4m3", "fp8_e5m2", "mxfp8", "nvfp4", "fp4_mx_block16"])


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
    path: str | None = None


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


@dataclass
class SpeculationNode:
    algorithm: str | None = None
    topk: int | None = None
    steps: int | None = None
    draft_tokens: int | None = None


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
    wait_for_gpu: str | None = None


def register() -> None:
    """Makes `schema` known to Hydra; the first entry of every root config's defaults."""
    from hydra.core.config_store import ConfigStore

    ConfigStore.instance().store(name="schema", node=Root)
