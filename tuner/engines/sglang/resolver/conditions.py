"""Conditions that several steps ask, each with the words it reads as. The same words are the same condition."""

from __future__ import annotations

from functools import cache

from tuner.engines.sglang.resolver.record import Condition


@cache
def no(condition: Condition) -> Condition:
    return Condition(condition.negated, lambda r, s: not condition.holds(r, s), condition.words)


def either(*conditions: Condition) -> Condition:
    return Condition(" or ".join(one.words for one in conditions), lambda r, s: any(one.holds(r, s) for one in conditions))


@cache
def architecture(*names: str) -> Condition:
    known = frozenset(names)
    return Condition(" or ".join(names), lambda r, s: r.model.architecture in known)


@cache
def kind(*names: str) -> Condition:
    return Condition(" or ".join(KINDS[name] for name in names), lambda r, s: r.machine.kind in names)


KINDS = {
    "cuda": "NVIDIA",
    "rocm": "ROCm",
    "xpu": "Intel XPU",
    "npu": "Ascend NPU",
    "mps": "Apple MPS",
    "musa": "MUSA",
    "hpu": "Gaudi HPU",
    "cpu": "CPU",
}


@cache
def base(*names: str) -> Condition:
    return Condition(f"base {' or '.join(names)}", lambda r, s: s.base in names)


@cache
def base_or_decode(name: str) -> Condition:
    return Condition(f"base or decode {name}", lambda r, s: name in (s.base, s.decode))


@cache
def any_field(name: str) -> Condition:
    return Condition(f"base, prefill or decode {name}", lambda r, s: name in (s.base, s.prefill, s.decode))


@cache
def prefill_side(*names: str) -> Condition:
    return Condition(f"prefill served by {' or '.join(names)}", lambda r, s: s.prefill_side in names)


@cache
def decode_side(*names: str) -> Condition:
    return Condition(f"decode served by {' or '.join(names)}", lambda r, s: s.decode_side in names)


@cache
def kv_dtype(*names: str) -> Condition:
    return Condition(f"KV dtype {' or '.join(names)}", lambda r, s: s.kv_dtype in names)


@cache
def variable(name: str) -> Condition:
    """An on/off variable as SGLang reads it."""
    return Condition(f"{name} set", lambda r, s: (r.variable(name) or "").lower() in ("1", "true", "yes", "on"))


@cache
def algorithm(*names: str) -> Condition:
    return Condition(f"{' or '.join(names)} speculation", lambda r, s: s.algorithm in names)


UNSET = Condition("no backend chosen", lambda r, s: s.unset, "a backend chosen")
BASE_UNSET = Condition("no base backend chosen", lambda r, s: s.base is None, "a base backend chosen")
PAGE_UNSET = Condition("--page-size unset", lambda r, s: s.page_size is None)

HOPPER = Condition("Hopper with CUDA 12.3 or newer", lambda r, s: r.machine.hopper)
SM100 = Condition("SM100 with CUDA 12.8 or newer", lambda r, s: r.machine.sm100)
SM120 = Condition("SM120 with CUDA 12.8 or newer", lambda r, s: r.machine.sm120)
BLACKWELL = Condition("Blackwell with CUDA 12.8 or newer", lambda r, s: r.machine.blackwell)
SM80_UP = Condition("NVIDIA SM80 or newer", lambda r, s: r.machine.kind == "cuda" and (r.machine.sm or 0) >= 80)
ROCM, NPU, XPU, MPS, CPU, HPU, MUSA, CUDA = (kind(one) for one in ("rocm", "npu", "xpu", "mps", "cpu", "hpu", "musa", "cuda"))

MLA = Condition("MLA model", lambda r, s: r.model.mla, "MHA model")
SINKS = Condition("attention sinks", lambda r, s: r.model.sinks, "no attention sinks")
UNEQUAL_WIDTHS = Condition("K and V widths differ", lambda r, s: r.model.unequal_widths, "K and V of one width")
FLASHINFER = Condition("FlashInfer importable", lambda r, s: r.machine.flashinfer, "no FlashInfer")

SPECULATION = Condition("speculation", lambda r, s: s.algorithm is not None, "no speculation")
DETERMINISTIC = Condition("deterministic inference", lambda r, s: r.deterministic)
RADIX = Condition("radix cache on", lambda r, s: s.radix_cache)
PREFILL_GRAPH_OPEN = Condition("prefill graph not chosen by the user", lambda r, s: not s.prefill_graph_fixed)
DECODE_GRAPH_OPEN = Condition("decode graph not chosen by the user", lambda r, s: not s.decode_graph_fixed)
PREFILL_GRAPH_ON = Condition("prefill graph on", lambda r, s: s.prefill_graph != "disabled")

ATTN_DP = Condition("attention data parallelism", lambda r, s: r.attn_dp > 1)
ATTN_CP = Condition("prefill context parallelism", lambda r, s: r.attn_cp > 1)
DCP = Condition("decode context parallelism", lambda r, s: r.dcp > 1)
PIPELINE = Condition("pipeline parallelism", lambda r, s: r.pipeline_parallel > 1)
DISAGGREGATED = Condition("a disaggregated deployment", lambda r, s: r.role != "unified")
HOST_CACHED = Condition("a hierarchical cache", lambda r, s: r.hierarchical_cache)
OVERLAP = Condition("the overlapped scheduler", lambda r, s: s.overlap)

WRITTEN_TREE = Condition("a draft tree written out (topk above 1)", lambda r, s: (s.topk or 0) > 1)
# sglang/srt/utils/common.py, is_no_spec_infer_or_topk_one
CHAIN = Condition(
    "topk unset (or 1 at page size 1)",
    lambda r, s: s.topk is None or (s.topk == 1 and s.page_size in (None, 1)),
    "topk written, with a tree or with pages",
)
