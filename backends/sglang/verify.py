"""Verify steps as the engine's speculative workers build them: a few new tokens a request, under the mask of their draft.

Source: sglang/srt/speculative, eagle_info.py, ngram_info.py and eagle_utils.py (build_tree_kernel_efficient), 0.5.16 and 0.5.22.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backends.drafting import depths, sees
from backends.sglang.batches import DecodeRows, request_rows, step_batch

if TYPE_CHECKING:
    import torch

    from backends.cell import Cell
    from backends.drafting import Drafting
    from backends.driver import CellData


def verify_rows(data: CellData) -> DecodeRows:
    """The rows of a verify cell: lengths of what was there before, positions by how deep in the draft a token is."""
    import torch

    cell, device = data.cell, data.seq_lens.device
    deep = torch.tensor(depths(cell.draft), dtype=torch.int64, device=device)
    return DecodeRows(
        input_ids=torch.zeros(cell.new_tokens, dtype=torch.int64, device=device),
        req_pool_indices=request_rows(data),
        seq_lens=data.prefix_lens,
        seq_lens_cpu=torch.tensor(cell.prefix_lens, dtype=torch.int64),
        out_cache_loc=data.out_cache_loc,
        positions=(data.prefix_lens[:, None] + deep).flatten(),
    )


def verify_batch(rows: DecodeRows, judged: Any) -> Any:
    """``judged``: of `verify_input`."""
    return step_batch(rows, "TARGET_VERIFY", judged)


def verify_input(rows: DecodeRows, mask: torch.Tensor, drafting: Drafting) -> Any:
    """What the backend is told of the draft beside the batch."""
    told: dict[str, Any] = {"draft_token": None, "custom_mask": mask, "positions": rows.positions, "draft_token_num": drafting.tokens}
    told |= dict.fromkeys(("retrieve_index", "retrieve_next_token", "retrieve_next_sibling"))
    if drafting.algorithm == "NGRAM":
        from sglang.srt.speculative.ngram_info import NgramVerifyInput

        return NgramVerifyInput(**told)
    from sglang.srt.model_executor.forward_batch_info import CaptureHiddenMode
    from sglang.srt.speculative.eagle_info import EagleVerifyInput

    lengths = {"seq_lens_sum": int(rows.seq_lens_cpu.sum()), "seq_lens_cpu": rows.seq_lens_cpu, "retrieve_cum_len": None}
    draft = {"spec_steps": drafting.steps, "topk": drafting.topk, "capture_hidden_mode": CaptureHiddenMode.FULL}
    return EagleVerifyInput(**told, **lengths, **draft)


def full_mask(cell: Cell, device: torch.device) -> torch.Tensor:
    """bool, [drafted tokens, context] of each request in turn, flat: what each of them sees of the cached keys (all) and of the draft."""
    import torch

    drafted = torch.tensor(sees(cell.draft), device=device)
    seen = [torch.cat([drafted.new_ones(len(drafted), prefix), drafted], dim=1).flatten() for prefix in cell.prefix_lens]
    return torch.cat(seen)


def open_mask(rows: DecodeRows, fill: int) -> torch.Tensor:
    """As the decode runner captures under: everything seen, in rows that are all padding."""
    import torch

    return torch.ones(rows.tokens * (fill + rows.width), dtype=torch.bool, device=rows.seq_lens.device)
