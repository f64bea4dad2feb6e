"""A request as the words a user would type, in the spelling of a release."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.engine.asked.models import draft_path
from tuner.engines.sglang.resolver.request import Machine, Request


def words(request: Request, folder: Path) -> list[str]:
    return [str(word) for pair in _pairs(request, folder) for word in pair]


def _pairs(request: Request, folder: Path) -> Iterator[tuple[Any, ...]]:
    yield from _values(
        {
            "--attention-backend": request.attention_backend,
            "--prefill-attention-backend": request.prefill_attention_backend,
            "--decode-attention-backend": request.decode_attention_backend,
            "--page-size": request.page_size,
            "--mem-fraction-static": request.mem_fraction_static,
            "--dsa-prefill-backend": request.dsa_prefill_backend,
            "--dsa-decode-backend": request.dsa_decode_backend,
            "--dllm-algorithm": request.dllm_algorithm,
        }
    )
    yield from _unless_default(
        {
            "--kv-cache-dtype": (request.kv_cache_dtype, "auto"),
            "--prefill-kv-cache-dequant-dtype": (request.prefill_kv_dequant_dtype, "auto"),
            "--mamba-radix-cache-strategy": (request.mamba_strategy, "auto"),
            "--chunked-prefill-size": (request.chunk, 8192),
            "--tp-size": (request.tensor_parallel, 1),
            "--dcp-size": (request.dcp, 1),
            "--pp-size": (request.pipeline_parallel, 1),
            "--dsv4-attn-backend": (request.dsv4_backend, "auto"),
            "--disaggregation-mode": (request.role, "unified"),
        }
    )
    yield from _switches(
        {
            "--enable-deterministic-inference": request.deterministic,
            "--disable-radix-cache": request.disable_radix_cache,
            "--disable-overlap-schedule": request.disable_overlap,
            "--enable-hierarchical-cache": request.hierarchical_cache,
            "--enable-mis": request.multi_item_scoring,
            "--is-embedding": request.embedding,
            "--prefill-only-disable-kv-cache": request.without_kv_cache,
            "--enable-unified-memory": request.unified_memory,
            "--enable-kv-cache-sharding": request.kv_sharding,
        }
    )
    yield from _parallel(request)
    yield from _graphs(request)
    yield from _draft(request, folder)


def _values(flags: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    return ((flag, value) for flag, value in flags.items() if value is not None)


def _unless_default(flags: dict[str, tuple[Any, Any]]) -> Iterator[tuple[Any, ...]]:
    return ((flag, value) for flag, (value, default) in flags.items() if value != default)


def _switches(flags: dict[str, bool]) -> Iterator[tuple[Any, ...]]:
    return ((flag,) for flag, on in flags.items() if on)


def _parallel(request: Request) -> Iterator[tuple[Any, ...]]:
    if request.attn_dp > 1:
        yield (
            ("--enable-dp-attention", "--dp-size", request.attn_dp) if request.version == "0.5.16" else ("--attn-dp-size", request.attn_dp)
        )
    if request.attn_cp > 1:
        yield ("--enable-prefill-cp", "--cp-strategy", "zigzag", "--attn-cp-size", request.attn_cp)


def _graphs(request: Request) -> Iterator[tuple[Any, ...]]:
    graphs = request.graphs
    yield from _switches(
        {
            "--disable-cuda-graph": graphs.off,
            "--disable-decode-cuda-graph": graphs.decode_off,
            "--disable-prefill-cuda-graph": graphs.prefill_off,
        }
    )
    yield from _values({"--cuda-graph-backend-decode": graphs.decode, "--cuda-graph-backend-prefill": graphs.prefill})


def _draft(request: Request, folder: Path) -> Iterator[tuple[Any, ...]]:
    draft = request.draft
    yield from _values(
        {
            "--speculative-algorithm": draft.algorithm,
            "--speculative-eagle-topk": draft.topk,
            "--speculative-num-steps": draft.steps,
            "--speculative-num-draft-tokens": draft.draft_tokens,
            "--speculative-draft-attention-backend": draft.attention_backend,
            "--speculative-draft-model-path": draft_path(folder, draft.causal) if draft.model else None,
            "--uno-lora-path": folder / "uno" if draft.uno_lora else None,
        }
    )
    yield from _unless_default(
        {
            "--speculative-attention-mode": (draft.attention_mode, "prefill"),
            "--speculative-ngram-max-bfs-breadth": (draft.ngram_breadth, 10),
        }
    )


def simulated(machine: Machine) -> dict[str, Any]:
    """The machine as tests/engine/asked/machine.py wants it."""
    return {**{name: getattr(machine, name) for name in Machine.__dataclass_fields__}, "cuda": list(machine.cuda or (99, 0))}
