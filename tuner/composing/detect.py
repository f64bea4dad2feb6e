"""What this machine has, for `gpu=auto` before any worker was asked. Without torch; no accelerator is a normal case."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from backends import cuda_driver
from backends.environment import Board
from backends.gpu import KINDS, Gpu
from backends.worker.board import here
from tuner.composing.boards import reported


def machine_gpu(environ: Mapping[str, str] = os.environ) -> Gpu:
    """The first visible accelerator, NVIDIA's first, else the processor; ``source`` says how it was found."""
    board = here(KINDS)
    gpu = reported(board, _source(board, environ.get("CUDA_VISIBLE_DEVICES")))
    return replace(gpu, cuda=cuda_driver.cuda_version()) if board.kind == "cuda" else gpu


def nvidia_names() -> tuple[str, ...]:
    """The GPUs that NVML shows, whatever CUDA_VISIBLE_DEVICES says; none without its library."""
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return ()
    try:
        handles = map(pynvml.nvmlDeviceGetHandleByIndex, range(pynvml.nvmlDeviceGetCount()))
        return tuple(pynvml.nvmlDeviceGetName(handle) for handle in handles)
    except pynvml.NVMLError:
        return ()
    finally:
        pynvml.nvmlShutdown()


def _source(board: Board, visible: str | None) -> str:
    if board.kind == "cuda":
        return _of_several([device.name for device in cuda_driver.visible_devices()])
    if not (names := nvidia_names()):
        return "the machine"
    if visible is not None:
        return f"the machine, of whose NVIDIA GPUs ({', '.join(names)}) CUDA_VISIBLE_DEVICES={visible!r} shows none"
    return f"the machine, whose NVIDIA GPUs ({', '.join(names)}) the CUDA driver does not show: is libcuda.so.1 in this container?"


def _of_several(names: list[str]) -> str:
    """Unlike GPUs are worth a word: CUDA numbers them fastest first, unless CUDA_DEVICE_ORDER=PCI_BUS_ID."""
    if len(set(names)) < 2:
        return "the CUDA driver and NVML"
    return f"the CUDA driver and NVML; the first of {', '.join(names)}: choose another with CUDA_VISIBLE_DEVICES"
