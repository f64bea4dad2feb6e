"""A request as the words a user would type, in the spelling of a release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from store.scenario import Engine, Scenario
from tuner.engines.sglang.resolver.request import Request

Option = tuple[str, ...]


@dataclass(frozen=True)
class Paths:
    """Where the configurations of the model and of a draft lie, seen from the server."""

    model: str = "./model"
    draft: str = "./draft"
    uno: str = "./uno"


def command_line(scenario: Scenario, request: Request) -> tuple[Option, ...]:
    """The options of the server that ``scenario`` describes and ``request`` puts in SGLang's words, in any order. What the
    scenario leaves to the engine is not among them."""
    return (*options(request), *_sizes(scenario.engine))


def _sizes(engine: Engine) -> Iterator[Option]:
    """What no rule asks: memory and the batches of a step follow from it."""
    yield from _values(
        {
            "--context-length": engine.context_length,
            "--cuda-graph-max-bs-decode": engine.cuda_graph_max_bs,
            "--swa-full-tokens-ratio": engine.swa_full_tokens_ratio,
        }
    )
    if engine.cuda_graph_bs:
        yield ("--cuda-graph-bs-decode", *map(str, engine.cuda_graph_bs))
    yield from _switches({"--disable-hybrid-swa-memory": engine.disable_hybrid_swa_memory, "--enable-mixed-chunk": engine.mixed_chunk})


def options(request: Request, paths: Paths = Paths()) -> tuple[Option, ...]:
    """All of ``request`` but its chunk, which is the one in effect and not one that was written."""
    model = _values({"--model-path": paths.model, "--device": torch_device(request.machine.kind)})
    features = (_backends(request), _memory(request), _parallel(request), _features(request), _graphs(request), _draft(request, paths))
    return (*model, *(option for options in features for option in options))


def torch_device(kind: str) -> str:
    """ROCm is "cuda" to torch."""
    return "cuda" if kind == "rocm" else kind


def _backends(request: Request) -> Iterator[Option]:
    yield from _values(
        {
            "--attention-backend": request.attention_backend,
            "--prefill-attention-backend": request.prefill_attention_backend,
            "--decode-attention-backend": request.decode_attention_backend,
            "--dsa-prefill-backend": request.dsa_prefill_backend,
            "--dsa-decode-backend": request.dsa_decode_backend,
        }
    )
    yield from _unless_default({"--dsv4-attn-backend": (request.dsv4_backend, "auto")})


def _memory(request: Request) -> Iterator[Option]:
    yield from _values({"--page-size": request.page_size, "--mem-fraction-static": request.mem_fraction_static})
    yield from _unless_default(
        {
            "--kv-cache-dtype": (request.kv_cache_dtype, "auto"),
            "--prefill-kv-cache-dequant-dtype": (request.prefill_kv_dequant_dtype, "auto"),
            "--mamba-radix-cache-strategy": (request.mamba_strategy, "auto"),
        }
    )


def _parallel(request: Request) -> Iterator[Option]:
    yield from _unless_default(
        {
            "--tp-size": (request.tensor_parallel, 1),
            "--dcp-size": (request.dcp, 1),
            "--pp-size": (request.pipeline_parallel, 1),
            "--disaggregation-mode": (request.role, "unified"),
        }
    )
    if request.attn_dp > 1:
        own = ("--enable-dp-attention", "--dp-size") if request.version == "0.5.16" else ("--attn-dp-size",)
        yield (*own, str(request.attn_dp))
    if request.attn_cp > 1:
        yield ("--enable-prefill-cp", "--cp-strategy", "zigzag", "--attn-cp-size", str(request.attn_cp))


def _features(request: Request) -> Iterator[Option]:
    yield from _values({"--dllm-algorithm": request.dllm_algorithm})
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


def _graphs(request: Request) -> Iterator[Option]:
    graphs = request.graphs
    yield from _switches(
        {
            "--disable-cuda-graph": graphs.off,
            "--disable-decode-cuda-graph": graphs.decode_off,
            "--disable-prefill-cuda-graph": graphs.prefill_off,
        }
    )
    yield from _values({"--cuda-graph-backend-decode": graphs.decode, "--cuda-graph-backend-prefill": graphs.prefill})


def _draft(request: Request, paths: Paths) -> Iterator[Option]:
    draft = request.draft
    yield from _values(
        {
            "--speculative-algorithm": draft.algorithm,
            "--speculative-eagle-topk": draft.topk,
            "--speculative-num-steps": draft.steps,
            "--speculative-num-draft-tokens": draft.draft_tokens,
            "--speculative-draft-attention-backend": draft.attention_backend,
            "--speculative-draft-model-path": paths.draft if draft.model else None,
            "--uno-lora-path": paths.uno if draft.uno_lora else None,
        }
    )
    yield from _unless_default(
        {
            "--speculative-attention-mode": (draft.attention_mode, "prefill"),
            "--speculative-ngram-max-bfs-breadth": (draft.ngram_breadth, 10),
        }
    )


def _values(flags: dict[str, Any]) -> Iterator[Option]:
    return ((flag, str(value)) for flag, value in flags.items() if value is not None)


def _unless_default(flags: dict[str, tuple[Any, Any]]) -> Iterator[Option]:
    return ((flag, str(value)) for flag, (value, default) in flags.items() if value != default)


def _switches(flags: dict[str, bool]) -> Iterator[Option]:
    return ((flag,) for flag, on in flags.items() if on)
