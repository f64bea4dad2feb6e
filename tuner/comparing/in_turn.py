"""Whether both processes of a pair can stand on the device at once, or one has to come after the other. Pure."""

from __future__ import annotations

import random
from collections.abc import Iterable

from backends.cell import kv_bytes
from backends.environment import Board
from backends.stand import POOL_SHARE
from reports import numbers
from store.plan import Plan
from tuner.workload.kv_size import element_bytes

SHARE = 0.35  # of the device's memory, for each of two processes at once
SAID = "the processes of a pair ran one after the other, since {}: what drifts from one to the other is not taken off"


def why_in_turn(board: Board, exclusive: bool, plan: Plan) -> str | None:
    """``exclusive``: the device refuses a second process. None: both at once."""
    reasons = (
        "the GPU's compute mode lets one process in at a time" if exclusive else None,
        f"the GPU is a MIG slice ({board.mig})" if board.mig is not None else None,
        *_too_large(board, plan),
    )
    return next((reason for reason in reasons if reason), None)


def _too_large(board: Board, plan: Plan) -> Iterable[str]:
    """Cells whose KV does not fit into the memory of one of two processes, in a pool for each page size and KV dtype."""
    dtypes = [dtype for _, dtype in {(arm.page_size, arm.kv_dtype) for arm in plan.arms}]
    if board.memory_bytes is None or board.kind == "cpu":
        return
    room = int(POOL_SHARE * SHARE * board.memory_bytes)
    for weighted in plan.cells:
        if (needed := int(sum(kv_bytes(weighted.cell, element_bytes(dtype)) for dtype in dtypes))) > room:
            there = numbers.memory(room)
            yield f"{weighted.cell.name} holds {numbers.memory(needed)} of KV, and either of two processes has {there} for it"


def order_of(seed: int, index: int) -> tuple[int, int]:
    """Of the sides in pair ``index``: A B and then B A, or B A and then A B, by chance for every two pairs."""
    first, second = random.Random(f"{seed}/{index // 2}/in turn").sample((0, 1), 2)
    return (second, first) if index % 2 else (first, second)
