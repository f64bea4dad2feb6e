"""What SGLang 0.5.16 calls things: backends read ``runner.server_args`` and live process groups."""

from __future__ import annotations

from typing import Any

VERSION = (0, 5, 16)

# Read from process groups that do not exist here. Heads are handed over per rank, so every width is 1.
PARALLEL: dict[str, Any] = {
    "tp_size": 1,
    "tp_rank": 0,
    "attn_tp_size": 1,
    "attn_tp_rank": 0,
    "attn_cp_size": 1,
    "attn_cp_rank": 0,
    "attn_dp_size": 1,
    "attn_dp_rank": 0,
    "dcp_enabled": False,
    "attn_dcp_size": 1,
    "attn_dcp_rank": 0,
}

FA3_MODULE = "sglang.jit_kernel.flash_attention_v3"


def argument_names() -> frozenset[str]:
    from sglang.srt.server_args import ServerArgs

    return frozenset(ServerArgs.__dataclass_fields__)


def complete(runner: Any) -> None:
    """FlashAttention takes its widths from ``runner.ps`` in this version."""
    from sglang.srt.distributed.parallel_state_wrapper import ParallelState

    runner.ps = ParallelState.trivial()


def bind_step(runner: Any, batch: Any) -> None:
    """KV ids need no plan in this version."""


def bind_static(runner: Any, batch: Any) -> None:
    """KV ids need no plan in this version."""


def replay_view(batch: Any, static: Any, fill: int) -> Any:
    """What the decode runner hands the backend before a replay: ``static`` buffers, the rest from the true ``batch``."""
    from sglang.srt.model_executor.runner.decode_cuda_graph_runner import build_replay_fb_view

    return build_replay_fb_view(
        forward_batch=batch,
        buffers=static,
        bs=static.batch,
        raw_bs=batch.batch_size,
        num_tokens=static.tokens,
        seq_len_fill_value=fill,
        capture_forward_mode=batch.forward_mode,
        is_encoder_decoder=False,
    )
