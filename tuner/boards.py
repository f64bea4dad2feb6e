"""From what a machine says of its GPU to the GPU of a scenario: rates filled in from a known sheet, a wrong request refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace

from backends.environment import Board
from backends.gpu import Gpu
from tuner.errors import UsageError


def on_board(asked: Gpu | None, board: Board, sheets: Iterable[Gpu]) -> Gpu:
    """The GPU a run is for. ``asked`` None (``gpu=auto``) takes whatever board the worker reports.

    Raises `UsageError` when another GPU was asked for than the worker has. Any CPU serves a request for a CPU.
    """
    if asked is None:
        return completed(_reported(board), sheets)
    if asked.kind != board.kind or (asked.kind == "cuda" and asked.name != board.name):
        raise UsageError(
            f"The scenario asks for {asked.name}, but the worker's machine has {board.name}; use gpu=auto or another engine.command"
        )
    return asked


def completed(gpu: Gpu, sheets: Iterable[Gpu]) -> Gpu:
    """``gpu`` with what is unknown taken from the sheet of the same name, where there is one."""
    sheet = next((sheet for sheet in sheets if sheet.name == gpu.name), None)
    if sheet is None:
        return gpu
    unknown = {field.name: getattr(sheet, field.name) for field in fields(gpu) if getattr(gpu, field.name) is None}
    return replace(gpu, **unknown, source=f"{gpu.source}; what it does not tell: {sheet.source}")


def _reported(board: Board) -> Gpu:
    return Gpu(
        name=board.name,
        kind=board.kind,
        sm=board.sm,
        sm_count=board.sm_count,
        memory_bytes=board.memory_bytes,
        l2_bytes=board.l2_bytes,
        bandwidth_bytes_per_s=None,
        peak_flops=None,
        smem_per_block_bytes=board.smem_per_block_bytes,
        cuda=None,
        source="the worker's report",
        amx=board.amx,
    )
