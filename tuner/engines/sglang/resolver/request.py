"""What SGLang's argument resolution looks at: the flags as written, the model, the machine and the release."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Machine:
    """``kind`` is what torch calls the device, or "rocm", "musa", "hpu". ``sm`` = compute capability x 10, None off NVIDIA; ``cuda`` the
    CUDA release torch was built for, None = new enough. ``preshuffled_mqa``: ROCm's aiter has its paged-MQA kernels."""

    kind: str
    sm: int | None = None
    cuda: tuple[int, ...] | None = None
    memory_mib: float | None = None
    flashinfer: bool = False
    amx: bool = False
    xmx: bool = True
    arm64: bool = False
    preshuffled_mqa: bool = False

    def built_for(self, majors: tuple[int, ...], cuda: tuple[int, int]) -> bool:
        """SGLang's platform probes (sglang/srt/utils/common.py, _check_cuda_device_version)."""
        return self.sm is not None and self.sm // 10 in majors and (self.cuda is None or self.cuda >= cuda)

    @cached_property
    def hopper(self) -> bool:
        return self.built_for((9,), (12, 3))

    @cached_property
    def sm100(self) -> bool:
        return self.built_for((10,), (12, 8))

    @cached_property
    def sm120(self) -> bool:
        return self.built_for((12,), (12, 8))

    @cached_property
    def blackwell(self) -> bool:
        return self.built_for((10, 11, 12), (12, 8))

    @cached_property
    def sm100_or_sm110(self) -> bool:
        return self.built_for((10, 11), (12, 8))


@dataclass(frozen=True)
class ModelFacts:
    """What the checkpoint's configuration says. ``mla`` and ``sinks`` as SGLang classifies the model; ``sparse``: DeepSeek's sparse
    attention, with ``index_kpool`` keys an index entry; ``kv_heads`` of the whole model; ``windowed``: EXAONE's sliding_window_pattern;
    ``mamba_layers``: Granite's layer types hold "mamba"; ``kda``: linear layers of the KDA kind; ``sparse_blocks``: MiniCPM's or
    Qwen4-Exp's sparse attention; ``lightning``: MiniCPM's linear layers; ``prefix_lm``: HRM-Text reads its prompt in both directions;
    ``canvas``: tokens a diffusion model fills at once."""

    architecture: str
    mla: bool = False
    sparse: bool = False
    index_kpool: int = 1
    sinks: bool = False
    unequal_widths: bool = False
    kv_heads: int = 8
    context_length: int = 131072
    windowed: bool = False
    mamba_layers: bool = False
    kda: bool = False
    sparse_blocks: bool = False
    lightning: bool = False
    prefix_lm: bool = True
    canvas: int | None = None


@dataclass(frozen=True)
class Draft:
    """Speculative decoding as written; None = left out. ``model``: a draft checkpoint is named; ``causal``: its layers are all causal
    or all sliding (what DFLASH asks of them)."""

    algorithm: str | None = None
    topk: int | None = None
    steps: int | None = None
    draft_tokens: int | None = None
    attention_backend: str | None = None
    attention_mode: str = "prefill"
    ngram_breadth: int = 10
    model: bool = False
    causal: bool = False
    uno_lora: bool = False


@dataclass(frozen=True)
class Graphs:
    """CUDA-graph flags as written; None = left out."""

    off: bool = False
    decode_off: bool = False
    prefill_off: bool = False
    decode: str | None = None
    prefill: str | None = None


@dataclass(frozen=True)
class Request:
    """``version`` is a member of `versions.READ`. Flags carry SGLang's names in short, None (or the engine's default) = left out;
    ``chunk`` is the prefill chunk in effect, -1 = off; ``environment`` holds variables that change the resolution."""

    version: str
    model: ModelFacts
    machine: Machine
    attention_backend: str | None = None
    prefill_attention_backend: str | None = None
    decode_attention_backend: str | None = None
    page_size: int | None = None
    kv_cache_dtype: str = "auto"
    prefill_kv_dequant_dtype: str = "auto"
    draft: Draft = Draft()
    graphs: Graphs = Graphs()
    deterministic: bool = False
    disable_radix_cache: bool = False
    disable_overlap: bool = False
    mamba_strategy: str = "auto"
    mem_fraction_static: float | None = None
    chunk: int = 8192
    tensor_parallel: int = 1
    attn_dp: int = 1
    attn_cp: int = 1
    dcp: int = 1
    pipeline_parallel: int = 1
    role: str = "unified"
    dsa_prefill_backend: str | None = None
    dsa_decode_backend: str | None = None
    dsv4_backend: str = "auto"
    hierarchical_cache: bool = False
    multi_item_scoring: bool = False
    embedding: bool = False
    without_kv_cache: bool = False
    unified_memory: bool = False
    kv_sharding: bool = False
    dllm_algorithm: str | None = None
    environment: frozenset[tuple[str, str]] = frozenset()

    def variable(self, name: str) -> str | None:
        return dict(self.environment).get(name)
