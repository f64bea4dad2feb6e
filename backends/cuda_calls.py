"""Calls into the CUDA driver that need a context, as torch leaves one: checked, and typed so that no handle is cut short.

Source of the signatures: cuda.h of CUDA 13.0; a name with a suffix is the symbol that the library exports.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint, c_ulonglong, c_void_p
from typing import Any

from backends import cuda_driver

HANDLE = POINTER(c_void_p)
SIGNATURES: dict[str, tuple[Any, ...]] = {
    "cuModuleLoadData": (HANDLE, c_char_p),
    "cuModuleGetFunction": (HANDLE, c_void_p, c_char_p),
    "cuLaunchKernel": (c_void_p, *[c_uint] * 7, c_void_p, HANDLE, HANDLE),
    "cuLinkCreate_v2": (c_uint, c_void_p, c_void_p, HANDLE),
    "cuLinkAddData_v2": (c_void_p, c_int, c_char_p, c_size_t, c_char_p, c_uint, c_void_p, c_void_p),
    "cuLinkComplete": (c_void_p, HANDLE, POINTER(c_size_t)),
    "cuLinkDestroy": (c_void_p,),
    "cuStreamGetCaptureInfo_v2": (c_void_p, POINTER(c_int), POINTER(c_ulonglong), HANDLE, HANDLE, POINTER(c_size_t)),
    "cuStreamGetCaptureInfo_v3": (c_void_p, POINTER(c_int), POINTER(c_ulonglong), HANDLE, HANDLE, HANDLE, POINTER(c_size_t)),
    "cuGraphGetNodes": (c_void_p, HANDLE, POINTER(c_size_t)),
    "cuGraphNodeGetType": (c_void_p, POINTER(c_int)),
    "cuGraphKernelNodeGetParams_v2": (c_void_p, c_void_p),
    "cuKernelGetFunction": (HANDLE, c_void_p),
    "cuFuncGetName": (POINTER(c_char_p), c_void_p),
    "cuFuncGetAttribute": (POINTER(c_int), c_int, c_void_p),
}


class CudaRefused(RuntimeError):
    """A call that the driver does not know or refuses; the text has its own words."""


def call(name: str, *arguments: Any) -> None:
    """One of `SIGNATURES`. Raises `CudaRefused`."""
    driver = cuda_driver.initialised()
    if driver is None:
        raise CudaRefused("there is no CUDA driver here")
    try:
        function = getattr(driver, name)
    except AttributeError:
        raise CudaRefused(f"this CUDA driver has no {name}; a newer one does") from None
    function.argtypes, function.restype = SIGNATURES[name], c_int
    code = function(*arguments)
    if code != 0:
        raise CudaRefused(f"the CUDA driver refused {name}: {_words(driver, code)} ({code})")


def _words(driver: Any, code: int) -> str:
    text = c_char_p()
    found = driver.cuGetErrorString(c_int(code), ctypes.byref(text)) == 0
    return text.value.decode() if found and text.value else "an error without words"
