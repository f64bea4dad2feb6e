"""Kernel names as a reader, and torch's profiler, has them: the C++ of what the driver tells mangled."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

LIBRARY = "libstdc++.so.6"  # torch has it loaded
MANGLED = "_Z"  # how names of functions begin; the runtime would take others for types ("i" for int)


def demangled(name: str) -> str:
    """``name`` itself where it is none of C++. Raises OSError without the C++ runtime."""
    if not name.startswith(MANGLED):
        return name
    status = ctypes.c_int()
    text = _demangle()(name.encode(), None, None, ctypes.byref(status))
    if status.value or not text:
        return name
    try:
        return (ctypes.cast(text, ctypes.c_char_p).value or b"").decode()
    finally:
        _free()(text)


@cache
def _demangle() -> Any:
    """Source: the Itanium C++ ABI, 3.4, __cxa_demangle."""
    function = ctypes.CDLL(LIBRARY).__cxa_demangle
    function.argtypes = (ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int))
    function.restype = ctypes.c_void_p
    return function


@cache
def _free() -> Any:
    function = ctypes.CDLL(None).free
    function.argtypes, function.restype = (ctypes.c_void_p,), None
    return function
