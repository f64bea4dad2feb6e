"""Kernels of our own: compiled from PTX by the driver, or loaded as the machine code it once made, and launched.

No compiler, no Triton: a few kernels that read clocks or stand as anchors must not depend on what they are to judge.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import byref, c_size_t, c_void_p
from typing import Any

from backends.cuda_calls import call

JIT_INPUT_PTX = 1  # CUjitInputType


def compiled(ptx: bytes) -> bytes:
    """The machine code that the driver makes of ``ptx`` for the device of the current context. Raises `CudaRefused`."""
    state, code, size = c_void_p(), c_void_p(), c_size_t()
    call("cuLinkCreate_v2", 0, None, None, byref(state))
    try:
        call("cuLinkAddData_v2", state, JIT_INPUT_PTX, ptx, len(ptx) + 1, b"attnpin", 0, None, None)  # with the zero at its end
        call("cuLinkComplete", state, byref(code), byref(size))
        return ctypes.string_at(code, size.value)
    finally:
        call("cuLinkDestroy", state)


class Kernel:
    """One entry of a module that stays loaded as long as the process lives."""

    def __init__(self, function: c_void_p) -> None:
        self._function = function

    def launch(self, blocks: int, threads: int, stream: int, *arguments: Any) -> None:
        """On ``stream``, a CUDA handle as torch's ``cuda_stream`` is one. ``arguments`` are ctypes values of the entry's types."""
        pointers = (c_void_p * len(arguments))(*(ctypes.addressof(argument) for argument in arguments))
        call("cuLaunchKernel", self._function, blocks, 1, 1, threads, 1, 1, 0, stream, pointers, None)


def load(image: bytes, entries: Sequence[str]) -> tuple[Kernel, ...]:
    """The kernels ``entries`` of ``image``, PTX or machine code. Raises `CudaRefused`."""
    module = c_void_p()
    call("cuModuleLoadData", byref(module), image)
    return tuple(_entry(module, name) for name in entries)


def _entry(module: c_void_p, name: str) -> Kernel:
    function = c_void_p()
    call("cuModuleGetFunction", byref(function), module, name.encode())
    return Kernel(function)
