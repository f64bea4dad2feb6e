"""What SGLang 0.5.22 calls things: published config namespaces, KV ids through a translator."""

from __future__ import annotations

from typing import Any

VERSION = (0, 5, 22)

# Widths are derived from the published arguments; these two are not. Heads are handed over per rank.
PARALLEL: dict[str, Any] = {"attn_tp_size": 1, "attn_dcp_rank": 0}

FA3_MODULE = "sglang.kernels.ops.attention.flash_attention_v3"


def argument_names() -> frozenset[str]:
    from sglang.srt.server_args import ServerArgs

    return frozenset(ServerArgs.__struct_fields__)


def complete(runner: Any) -> None:
    """Backends of this version take KV ids through the runner's translator; a plain pool translates nothing."""
    from sglang.srt.mem_cache.kv_index_translator import KVIndexTranslator

    runner.kv_index_translator = KVIndexTranslator(
        req_to_token=runner.req_to_token_pool.req_to_token,
        token_to_kv_pool_allocator=runner.token_to_kv_pool_allocator,
        token_to_kv_pool=runner.token_to_kv_pool,
        page_size=runner.page_size,
        device=runner.device,
    )


def bind_step(runner: Any, batch: Any) -> None:
    runner.kv_index_translator.bind_own_plan(batch)


def bind_static(runner: Any, batch: Any) -> None:
    runner.kv_index_translator.bind_runner_slots(batch)


def replay_view(batch: Any, static: Any, fill: int) -> Any:
    """What the decode runner hands the backend before a replay: ``static`` buffers, the rest from the true ``batch``."""
    from sglang.srt.model_executor.runner.decode_cuda_graph_runner import build_replay_fb_view

    return build_replay_fb_view(
        forward_batch=batch,
        buffers=static,
        bs=static.batch,
        raw_bs=batch.batch_size,
        num_tokens=static.tokens,
        global_num_tokens_cpu=None,
        seq_len_fill_value=fill,
        capture_forward_mode=batch.forward_mode,
        is_encoder_decoder=False,
    )
