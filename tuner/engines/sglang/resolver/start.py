"""The settings a resolution starts from: the flags as written, and each platform's default graphs."""

from __future__ import annotations

from tuner.engines.sglang.resolver.record import Settings
from tuner.engines.sglang.resolver.request import Request


def settings_of(request: Request) -> Settings:
    draft = request.draft
    return Settings(
        base=request.attention_backend,
        prefill=request.prefill_attention_backend,
        decode=request.decode_attention_backend,
        draft=draft.attention_backend,
        page_size=request.page_size,
        kv_dtype=request.kv_cache_dtype,
        verify_side=draft.attention_mode,
        algorithm=draft.algorithm,
        topk=draft.topk,
        steps=draft.steps,
        draft_tokens=draft.draft_tokens,
        decode_graph="full",
        prefill_graph=_prefill_graph(request),
        decode_graph_fixed=False,
        prefill_graph_fixed=False,
        radix_cache=not request.disable_radix_cache,
        overlap=not request.disable_overlap,
        mamba_strategy=request.mamba_strategy,
        uses_mamba=False,
        chunk=request.chunk,
        dsa_prefill=request.dsa_prefill_backend,
        dsa_decode=request.dsa_decode_backend,
        mem_fraction=request.mem_fraction_static,
    )


def _prefill_graph(request: Request) -> str:
    """sglang/srt/model_executor/cuda_graph_config.py, default_prefill_backend."""
    if request.machine.kind == "cuda":
        return "breakable"
    return "tc_piecewise" if request.version == "0.5.16" else "disabled"
