from __future__ import annotations

import ctypes
from typing import Any

import pytest

from backends import cuda_driver
from backends.cuda_calls import SIGNATURES, CudaRefused, call
from backends.cuda_code import compiled, load
from tests.backends.fake_cuda import INVALID_VALUE, SUCCESS, fill, install


def test_without_a_driver_every_call_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_driver, "initialised", lambda: None)
    with pytest.raises(CudaRefused, match="there is no CUDA driver here"):
        call("cuLinkDestroy", None)


def test_a_driver_too_old_for_a_call_is_named_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
    with pytest.raises(CudaRefused, match="this CUDA driver has no cuFuncGetName"):
        call("cuFuncGetName", None, None)


@pytest.mark.parametrize(("code", "words"), [(INVALID_VALUE, "invalid argument (1)"), (77, "an error without words (77)")])
def test_a_refusal_has_the_drivers_words(monkeypatch: pytest.MonkeyPatch, code: int, words: str) -> None:
    install(monkeypatch, cuLinkDestroy=lambda state: code)
    with pytest.raises(CudaRefused) as caught:
        call("cuLinkDestroy", None)
    assert str(caught.value) == f"the CUDA driver refused cuLinkDestroy: {words}"


def test_handles_are_passed_whole() -> None:
    """Without argtypes ctypes would pass the lower half of a handle."""
    assert all(ctypes.sizeof(kind) >= 4 for signature in SIGNATURES.values() for kind in signature)
    assert SIGNATURES["cuLaunchKernel"][0] is SIGNATURES["cuLaunchKernel"][8] is ctypes.c_void_p


def test_the_machine_code_of_a_source_is_copied_before_the_linker_lets_it_go(monkeypatch: pytest.MonkeyPatch) -> None:
    held = {"linker": ctypes.create_string_buffer(b"\x7fELF\x00code", 9)}
    given: dict[str, Any] = {}

    def add(state: Any, kind: int, data: bytes, size: int, *rest: Any) -> int:
        given.update(kind=kind, data=data, size=size)
        return SUCCESS

    def complete(state: Any, code: Any, size: Any) -> int:
        fill(code, ctypes.addressof(held["linker"]))
        fill(size, 9)
        return SUCCESS

    def destroy(state: Any) -> int:
        ctypes.memset(held["linker"], 0, 9)
        return SUCCESS

    install(monkeypatch, cuLinkCreate_v2=lambda *_: SUCCESS, cuLinkAddData_v2=add, cuLinkComplete=complete, cuLinkDestroy=destroy)
    assert compiled(b".version 7.0") == b"\x7fELF\x00code"
    assert given == {"kind": 1, "data": b".version 7.0", "size": 13}  # the zero that ends it counts


def test_a_kernel_is_launched_with_pointers_to_its_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def get(function: Any, module: Any, name: bytes) -> int:
        fill(function, {b"first": 0x11, b"second": 0x22}[name])
        return SUCCESS

    def launch(function: Any, *rest: Any) -> int:
        numbers = (
            ctypes.cast(rest[8][0], ctypes.POINTER(ctypes.c_ulonglong)).contents.value,
            ctypes.cast(rest[8][1], ctypes.POINTER(ctypes.c_uint)).contents.value,
        )
        seen.append((function.value, rest[:8], numbers))
        return SUCCESS

    install(monkeypatch, cuModuleLoadData=lambda module, image: SUCCESS, cuModuleGetFunction=get, cuLaunchKernel=launch)
    _, second = load(b"image", ["first", "second"])
    second.launch(264, 32, 7, ctypes.c_ulonglong(2**40), ctypes.c_uint(5))
    assert seen == [(0x22, (264, 1, 1, 32, 1, 1, 0, 7), (2**40, 5))]
