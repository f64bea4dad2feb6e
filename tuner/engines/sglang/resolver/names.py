"""Backend and dtype names on the command line: which a release knows, which it renames."""

from __future__ import annotations

from typing import Any

from tuner.engines.sglang.resolver.conditions import kv_dtype
from tuner.engines.sglang.resolver.record import Computes, Condition, Refuses, Rule, Settings, Step
from tuner.engines.sglang.resolver.request import Request

EVERYWHERE = (
    *("triton", "torch_native", "flex_attention", "dsa", "nsa", "dsv4", "compressed", "fa3", "fa4", "flashinfer", "flashmla", "trtllm_mla"),
    *("cutedsl_mla", "tokenspeed_mla", "trtllm_mha", "aiter", "wave", "intel_amx", "ascend", "intel_xpu"),
)

REMOVED = ("cutlass_mla", "dual_chunk_flash_attn")
ADDED = ("qsa", "llada2_cfg_flashinfer", "hpc_ops", "minicpm_flashattn", "minicpm_flashinfer")
SPARSE_OLD = {None, "flashmla_sparse", "flashmla_sparse_q8", "flashmla_kv", "flashmla_auto", "fa3", "tilelang", "aiter", "trtllm"}
KNOWN = frozenset((None, *EVERYWHERE, *REMOVED, *ADDED))
CHOICES = "sglang/srt/arg_groups/choices.py, ATTENTION_BACKEND_CHOICES"
DEPRECATED = "sglang/srt/arg_groups/serving_hook.py, handle_deprecated_args"
FIELDS = ("base", "prefill", "decode", "draft")


def _written(request: Request) -> tuple[str | None, ...]:
    return request.attention_backend, request.prefill_attention_backend, request.decode_attention_backend


def _names(*names: str) -> Condition:
    wanted = frozenset(names)
    return Condition(f"{' or '.join(names)} asked for", lambda r, s: not wanted.isdisjoint(_written(r)))


def _renamed(settings: Settings, old: str, new: str) -> dict[str, Any]:
    return {field: new for field in FIELDS if getattr(settings, field) == old}


def _without_tokenspeed(request: Request, settings: Settings) -> dict[str, Any]:
    renamed = _renamed(settings, "tokenspeed_mla", "cutedsl_mla")
    return renamed | ({"prefill": "trtllm_mla"} if "prefill" in renamed else {})


def _in_any_field(name: str) -> Condition:
    return Condition(f"{name} in any field", lambda r, s: name in (s.base, s.prefill, s.decode, s.draft))


TOKENSPEED_SERVES = Condition("base or decode written as tokenspeed_mla", lambda r, s: "tokenspeed_mla" in (_written(r)[0], _written(r)[2]))

RULES = (
    Rule(
        "names.removed",
        (_names(*REMOVED),),
        Refuses("SGLang {r.version} no longer knows cutlass_mla or dual_chunk_flash_attn; choose another backend", "invalid choice"),
        "These backends were taken out between 0.5.16 and 0.5.22.",
        CHOICES,
        since="0.5.22",
    ),
    Rule(
        "names.not-yet",
        (_names(*ADDED),),
        Refuses(f"{', '.join(ADDED)} came after SGLang {{r.version}}; choose another backend or a newer release", "invalid choice"),
        "These backends came after 0.5.16.",
        CHOICES,
        until="0.5.16",
    ),
    Rule(
        "names.unknown",
        (Condition("a name that no release knows", lambda r, s: not KNOWN.issuperset(_written(r))),),
        Refuses("SGLang knows no such backend; write one of the names that `attnpin limits` lists", "invalid choice"),
        "The command line takes names from a list.",
        CHOICES,
    ),
    Rule(
        "names.fp4-e2m1",
        (kv_dtype("fp4_e2m1"),),
        Refuses("SGLang {r.version} no longer knows --kv-cache-dtype fp4_e2m1; write nvfp4 or fp4_mx_block16", "invalid choice"),
        "The dtype was split into two recipes under new names.",
        "sglang/srt/arg_groups/fields/model.py, kv_cache_dtype",
        since="0.5.22",
    ),
    Rule(
        "names.sparse-not-yet",
        (Condition("a sparse backend of a later release", lambda r, s: not {s.dsa_prefill, s.dsa_decode} <= SPARSE_OLD),),
        Refuses("SGLang {r.version} knows no sparse backend {s.dsa_prefill} or {s.dsa_decode}; choose another", "invalid choice"),
        "triton, intel_xpu and flashinfer_sparse_mla came after 0.5.16.",
        "sglang/srt/arg_groups/choices.py, DSA_CHOICES",
        until="0.5.16",
    ),
    Rule(
        "names.compressed",
        (_in_any_field("compressed"),),
        Computes("dsv4 instead", lambda r, s: _renamed(s, "compressed", "dsv4")),
        "compressed is an old name of dsv4; nsa, an old name of dsa, stays as written, so that rules about dsa do not see it.",
        DEPRECATED,
    ),
    Rule(
        "names.tokenspeed-kv",
        (TOKENSPEED_SERVES, Condition("KV dtype not fp8_e4m3", lambda r, s: s.kv_dtype != "fp8_e4m3")),
        Computes("KV dtype fp8_e4m3", lambda r, s: {"kv_dtype": "fp8_e4m3"}),
        "tokenspeed_mla implied an FP8 KV cache, which its successor keeps.",
        DEPRECATED,
        since="0.5.23",
    ),
    Rule(
        "names.tokenspeed-verify",
        (
            TOKENSPEED_SERVES,
            Condition("speculation that verifies on prefill", lambda r, s: bool(s.algorithm) and s.verify_side == "prefill"),
        ),
        Computes("verify on decode", lambda r, s: {"verify_side": "decode"}),
        "tokenspeed_mla verified on its decode kernel, which its successor keeps.",
        DEPRECATED,
        since="0.5.23",
    ),
    Rule(
        "names.tokenspeed",
        (_in_any_field("tokenspeed_mla"),),
        Computes("cutedsl_mla instead, trtllm_mla for prefill", _without_tokenspeed),
        "tokenspeed_mla is an old name of cutedsl_mla, which only decodes.",
        DEPRECATED,
        since="0.5.23",
    ),
)

STEPS = (Step("names", RULES),)
