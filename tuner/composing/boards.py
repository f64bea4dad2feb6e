"""From what a machine says of its GPU to the GPU of a scenario: rates filled in from a known sheet, a wrong request refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace

from backends.environment import Board
from backends.gpu import MEASURED_KINDS, Gpu
from tuner.errors import UsageError


def on_board(asked: Gpu | None, board: Board, sheets: Iterable[Gpu]) -> Gpu:
    """The GPU a run is for. ``asked`` None (``gpu=auto``) takes whatever board the worker reports.

    Raises `UsageError` for a kind that attnpin cannot measure, and when another GPU was asked for than the worker has. Any
    CPU of the architecture asked for serves a request for a CPU, as what it is.
    """
    found = reported(board, "the worker's report")
    refuse_unmeasurable(asked or found)
    if asked is None:
        return completed(found, sheets)
    if asked.kind != found.kind or not _serves(found, asked):
        raise UsageError(
            f"The scenario asks for {asked.name}, but the worker's machine has {found.name}; use gpu=auto or another engine.command"
        )
    return asked if asked.kind == "cuda" else _filled(replace(asked, amx=found.amx), found)


def is_here(gpu: Gpu, board: Board) -> bool:
    """Whether what holds on ``board`` holds for ``gpu``: a processor may have AMX that the sheet does not ask for."""
    found = reported(board, "the worker's report")
    return gpu.kind == found.kind and gpu.amx == found.amx and _serves(found, gpu)


def refuse_unmeasurable(gpu: Gpu) -> None:
    """Raises `UsageError` for a device no driver is written for."""
    if gpu.kind not in MEASURED_KINDS:
        raise UsageError(
            f"attnpin measures on NVIDIA GPUs and on CPUs, and {gpu.name} ({gpu.kind}) is neither; "
            "`attnpin plan` says what the engine would pick there"
        )


def completed(gpu: Gpu, sheets: Iterable[Gpu]) -> Gpu:
    """``gpu`` with what is unknown taken from the sheet of the same name, where there is one."""
    sheet = next((sheet for sheet in sheets if sheet.name == gpu.name), None)
    return gpu if sheet is None else _filled(gpu, sheet)


def reported(board: Board, source: str) -> Gpu:
    """The board without the rates of a sheet. A MIG slice has a name of its own, since no figure of the whole GPU holds for it."""
    return Gpu(
        name=board.name if board.mig is None else f"{board.name} MIG {board.mig}",
        kind=board.kind,
        sm=board.sm,
        sm_count=board.sm_count,
        memory_bytes=board.memory_bytes,
        l2_bytes=board.l2_bytes,
        bandwidth_bytes_per_s=board.bandwidth_bytes_per_s,
        peak_flops=None,
        smem_per_block_bytes=board.smem_per_block_bytes,
        cuda=None,
        source=source,
        amx=board.amx,
        arch=board.arch,
    )


def _serves(found: Gpu, asked: Gpu) -> bool:
    if asked.kind == "cuda":
        return found.name == asked.name
    return asked.arch in (None, found.arch) and (found.amx or not asked.amx)


def _filled(gpu: Gpu, known: Gpu) -> Gpu:
    unknown = {field.name: getattr(known, field.name) for field in fields(gpu) if getattr(gpu, field.name) is None}
    return replace(gpu, **unknown, source=f"{gpu.source}; what it does not tell: {known.source}")
