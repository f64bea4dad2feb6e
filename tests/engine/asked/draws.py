"""Random flags, machines and drafts of one stream."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from tests.engine.asked.machines import MACHINES
from tuner.engines.sglang.resolver.names import ADDED, EVERYWHERE, REMOVED
from tuner.engines.sglang.resolver.request import Draft, Graphs, Machine, Request

PAGES = (1, 1, 16, 32, 64, 64, 128, 256, 48)
KV = ("bf16", "bfloat16", "fp8_e4m3", "fp8_e4m3", "fp8_e5m2", "mxfp8", "nvfp4", "fp4_mx_block16")
ALGORITHMS = ("EAGLE", "EAGLE", "EAGLE", "EAGLE3", "NEXTN", "STANDALONE", "NGRAM", "NGRAM", "eagle")
GRAPHS = (
    Graphs(off=True),
    Graphs(prefill_off=True),
    Graphs(decode_off=True),
    Graphs(decode="breakable"),
    Graphs(decode="disabled"),
    Graphs(prefill="breakable"),
    Graphs(prefill="full"),
    Graphs(prefill="disabled"),
    Graphs(off=True, decode="full"),
)


class Draw:
    """Random choices of one stream."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)

    def one(self, *options: Any) -> Any:
        return self.random.choice(options)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def machine(self, *names: str) -> Machine:
        return MACHINES[self.one(*(names or MACHINES))]


def backends(version: str) -> tuple[str, ...]:
    return (*EVERYWHERE, *(REMOVED if version == "0.5.16" else ADDED))


def flags(draw: Draw, request: Request, share: float = 1.0) -> Request:
    """``request`` with some flags written, each only where it is still left out."""
    changes: dict[str, Any] = {}
    if draw.chance(0.4 * share):
        changes |= _backends(draw, request.version)
    if draw.chance(0.35 * share):
        changes["page_size"] = draw.one(*PAGES)
    if draw.chance(0.25 * share):
        changes["kv_cache_dtype"] = draw.one(*KV)
    if draw.chance(0.3 * share):
        changes["draft"] = _draft(draw)
    if draw.chance(0.15 * share):
        changes["graphs"] = draw.one(*GRAPHS)
    if draw.chance(0.3 * share):
        changes["tensor_parallel"] = draw.one(2, 4, 8)
    for name, often, options in RARE:
        if draw.chance(often * share):
            changes[name] = draw.one(*options)
    plain = Request(request.version, request.model, request.machine)
    return replace(request, **{name: value for name, value in changes.items() if getattr(request, name) == getattr(plain, name)})


RARE: tuple[tuple[str, float, tuple[Any, ...]], ...] = (
    ("deterministic", 0.08, (True,)),
    ("disable_radix_cache", 0.1, (True,)),
    ("disable_overlap", 0.05, (True,)),
    ("chunk", 0.04, (-1, 4096, 2000)),
    ("attn_dp", 0.03, (2,)),
    ("dcp", 0.03, (2,)),
    ("pipeline_parallel", 0.03, (2,)),
    ("attn_cp", 0.02, (2,)),
    ("role", 0.06, ("prefill", "decode")),
    ("hierarchical_cache", 0.03, (True,)),
    ("mamba_strategy", 0.05, ("no_buffer", "extra_buffer", "extra_buffer_lazy")),
    ("mem_fraction_static", 0.05, (0.8,)),
)


def _backends(draw: Draw, version: str) -> dict[str, Any]:
    name, other = (draw.one(*backends(version)) for _ in range(2))
    return draw.one(
        {"attention_backend": name},
        {"attention_backend": name},
        {"prefill_attention_backend": name},
        {"decode_attention_backend": name},
        {"prefill_attention_backend": name, "decode_attention_backend": other},
        {"prefill_attention_backend": name, "decode_attention_backend": name},
        {"attention_backend": other, "decode_attention_backend": name},
        {"attention_backend": other, "prefill_attention_backend": name, "decode_attention_backend": name},
    )


def _draft(draw: Draw) -> Draft:
    written = draw.one(
        {},
        {},
        {"topk": 1, "steps": 3, "draft_tokens": 4},
        {"topk": 4, "steps": 5, "draft_tokens": 8},
        {"topk": 1, "steps": 3},
        {"topk": 2, "steps": 3, "draft_tokens": 6},
        {"topk": 4},
        {"steps": 3, "draft_tokens": 4},
    )
    return Draft(
        algorithm=draw.one(*ALGORITHMS),
        attention_backend=draw.one(None, None, None, "fa3", "triton", "flashinfer", "trtllm_mha", "bogus"),
        attention_mode=draw.one("prefill", "prefill", "decode"),
        ngram_breadth=draw.one(10, 10, 1),
        **written,
    )
