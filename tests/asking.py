"""The backend entries as shipped, and questions about them with everything plain unless a test says otherwise."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from backends.capability import BackendEntry
from backends.cell import Phase
from backends.gpu import Gpu
from backends.judgement import reasons
from backends.model import Attention, LayerKind, Model
from backends.question import Question
from backends.reason import Reason
from tuner.composing.shipped import shipped_entries

NAMES = (
    *("triton", "torch_native", "flex_attention", "dsa", "qsa", "dsv4", "fa3", "fa4", "flashinfer", "llada2_cfg_flashinfer"),
    *("flashmla", "trtllm_mla", "cutedsl_mla", "tokenspeed_mla", "trtllm_mha", "hpc_ops", "minicpm_flashattn", "minicpm_flashinfer"),
    *("aiter", "wave", "intel_amx", "ascend", "intel_xpu"),
)
REMOVED = ("cutlass_mla", "dual_chunk_flash_attn")  # after 0.5.16
FULL = LayerKind("full", 32, 32, 8, 128, 128)
MLA = LayerKind("full", 61, 128, 1, 576, 512)
GPU = Gpu("made up", "cuda", 90, 132, 150 * 10**9, 60 << 20, 4.8e12, 989e12, 227 << 10, "13.0", "made up")
MODEL = Model("made_up", "LlamaForCausalLM", Attention.MHA, (FULL,), 4096, 128256, 8e9, 8e9, "bfloat16", 131072, "made up")
QUESTION = Question(MODEL, MODEL.layers, GPU, Phase.DECODE, "bfloat16", "auto", 1, None, 0, (), "0.5.22")


@cache
def entries() -> dict[str, BackendEntry]:
    return {entry.name: entry for entry in shipped_entries("sglang")}


def undriven(*names: str) -> tuple[BackendEntry, ...]:
    """All entries, as if nobody had written a driver for some."""
    return tuple(replace(entry, drivers=()) if name in names else entry for name, entry in entries().items())


def gpu(sm: int | None = 90, **changes: Any) -> Gpu:
    """An NVIDIA GPU of one compute capability, or with ``kind`` something else."""
    return replace(GPU, **{"name": f"sm {sm}", "sm": sm, **changes})


def model(*layers: LayerKind, **changes: Any) -> Model:
    return replace(MODEL, layers=layers or MODEL.layers, **changes)


def mla_model(**changes: Any) -> Model:
    return model(MLA, **{"attention": Attention.MLA, "architecture": "DeepseekV2ForCausalLM", **changes})


def question(**changes: Any) -> Question:
    """About `MODEL` on Hopper, decoding with KV of the model's dtype; ``layers`` follow the model."""
    asked = changes.get("model", MODEL)
    return replace(QUESTION, **{"layers": asked.layers, "kv_dtype": asked.dtype, **changes})


def why_not(backend: str, **changes: Any) -> tuple[Reason, ...]:
    return reasons(entries()[backend].capability, question(**changes))


def kept(*backends: str, **changes: Any) -> set[str]:
    return {backend for backend in backends or NAMES if not why_not(backend, **changes)}


def rules_broken(backend: str, **changes: Any) -> set[str]:
    return {reason.rule for reason in why_not(backend, **changes)}
