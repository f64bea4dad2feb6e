"""A CUDA driver whose functions are Python's: what a test does not give, it does not have."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

from backends import cuda_driver

SUCCESS, INVALID_VALUE = 0, 1


class Function:
    """Takes ``argtypes`` as a function of ctypes does, and keeps none of them."""

    def __init__(self, body: Callable[..., int]) -> None:
        self._body = body
        self.argtypes: Any = None
        self.restype: Any = None

    def __call__(self, *arguments: Any) -> int:
        return self._body(*arguments)


class Driver:
    def __init__(self, **functions: Callable[..., int]) -> None:
        for name, body in functions.items():
            setattr(self, name, Function(body))

    def cuGetErrorString(self, code: ctypes.c_int, text: Any) -> int:
        text._obj.value = b"invalid argument" if code.value == INVALID_VALUE else None
        return SUCCESS if code.value == INVALID_VALUE else INVALID_VALUE


def install(monkeypatch: pytest.MonkeyPatch, **functions: Callable[..., int]) -> None:
    driver = Driver(**functions)
    monkeypatch.setattr(cuda_driver, "initialised", lambda: driver)


def fill(reference: Any, value: Any) -> None:
    """Through what ``ctypes.byref`` made."""
    reference._obj.value = value
