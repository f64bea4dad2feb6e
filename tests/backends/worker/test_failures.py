from __future__ import annotations

import subprocess

import pytest

from backends.driver import MissingPackage, Refused
from backends.outcome import Outcome
from backends.timing.disturbance import Disturbed
from backends.worker.failures import describe, without_folders


def named(name: str, base: type[Exception] = Exception) -> type[Exception]:
    """An exception class as a library would define it."""
    return type(name, (base,), {})


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (MissingPackage("flashinfer cannot be imported"), Outcome.MISSING_PACKAGE),
        (Disturbed("measurement invalid: power brake"), Outcome.INTERRUPTED),
        (ModuleNotFoundError("No module named 'x'"), Outcome.MISSING_PACKAGE),
        (ImportError("libcudart.so.13: cannot open shared object file"), Outcome.MISSING_PACKAGE),
        (Refused("page size 1 is out of memory and ninja"), Outcome.REFUSED),
        (NotImplementedError("head dim 512"), Outcome.REFUSED),
        (AssertionError(), Outcome.REFUSED),
        (RuntimeError("FA3 supports sm90 only"), Outcome.REFUSED),
        (RuntimeError("CUDA error: no kernel image is available for execution on the device"), Outcome.REFUSED),
        (RuntimeError("CUDA error: invalid device function"), Outcome.REFUSED),
        (RuntimeError("CUDA error: device kernel image is invalid"), Outcome.REFUSED),
        (RuntimeError("CUDA error: the provided PTX was compiled with an unsupported toolchain."), Outcome.REFUSED),
        (OSError("/x/flash_ops.abi3.so: undefined symbol: _ZN3c104cuda9SetDeviceEi"), Outcome.MISSING_PACKAGE),
        (OSError("libcudart.so.12: cannot open shared object file: No such file or directory"), Outcome.MISSING_PACKAGE),
        (AttributeError("'_OpNamespace' 'sgl_kernel' object has no attribute 'fwd'"), Outcome.MISSING_PACKAGE),
        (FileNotFoundError(2, "No such file or directory", "nvcc"), Outcome.BUILD_FAILED),
        (named("DSLRuntimeError")("Error during runtime code generation"), Outcome.BUILD_FAILED),
        (named("OutOfResources")("out of resource: shared memory"), Outcome.REFUSED),
        (MemoryError(), Outcome.OUT_OF_MEMORY),
        (named("OutOfMemoryError", RuntimeError)("no room"), Outcome.OUT_OF_MEMORY),
        (RuntimeError("CUDA error: out of memory"), Outcome.OUT_OF_MEMORY),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"), Outcome.OUT_OF_MEMORY),
        (named("AcceleratorError", RuntimeError)("CUDA error: out of memory"), Outcome.OUT_OF_MEMORY),
        (named("AcceleratorError", RuntimeError)("CUDA error: an illegal memory access was encountered"), Outcome.CRASHED),
        (RuntimeError("CUDA error: device-side assert triggered"), Outcome.CRASHED),
        (subprocess.CalledProcessError(1, ["nvcc"]), Outcome.BUILD_FAILED),
        (RuntimeError("Ninja build failed. Ninja output:"), Outcome.BUILD_FAILED),
        (RuntimeError("Could not find nvcc and default cuda_home='/usr/local/cuda' doesn't exist"), Outcome.BUILD_FAILED),
        (named("CppCompileError", RuntimeError)("C++ compile error"), Outcome.BUILD_FAILED),
        (named("CompilationError")("at 3:4"), Outcome.BUILD_FAILED),
        (OSError("/tmp/x.so: failed to map segment from shared object"), Outcome.BUILD_FAILED),
        (AttributeError("'Runner' object has no attribute 'spec_info'"), Outcome.CRASHED),
        (KeyboardInterrupt(), Outcome.INTERRUPTED),
    ],
)
def test_an_exception_becomes_the_outcome_it_stands_for(error: BaseException, outcome: Outcome) -> None:
    assert describe(error).outcome is outcome


def test_the_cause_decides_where_the_wrapper_says_nothing() -> None:
    wrapper = Exception("capture failed")
    wrapper.__cause__ = named("OutOfMemoryError")("no room")
    assert describe(wrapper).outcome is Outcome.OUT_OF_MEMORY


def test_what_a_compiler_says_last_is_told_with_the_first_line() -> None:
    error = named("CppCompileError", RuntimeError)("C++ compile error\n\nOutput:\nfatal error: No space left on device")
    assert describe(error).detail == "CppCompileError: C++ compile error (No space left on device)"
    said = OSError(28, "No space left on device")
    assert describe(said).detail == "OSError: [Errno 28] No space left on device"


def test_only_a_crash_ends_the_process() -> None:
    assert describe(RuntimeError("CUDA error: unspecified launch failure")).fatal
    assert not describe(RuntimeError("CUDA out of memory")).fatal


def test_the_detail_is_one_line_with_the_type_and_our_own_sentences_stand_alone() -> None:
    assert describe(ValueError("bad\nmore")).detail == "ValueError: bad"
    assert (
        describe(ValueError("backend='inductor' raised:\n\nno compiler\nmore")).detail
        == "ValueError: backend='inductor' raised: no compiler"
    )
    assert describe(AssertionError()).detail == "AssertionError"
    assert describe(Refused("not on this GPU")).detail == "not on this GPU"
    assert len(describe(ValueError("x" * 1000)).detail) == 300


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("cannot open /home/anna/lib/libfoo.so: no such file", "cannot open libfoo.so: no such file"),
        ("default '/usr/local/cuda' is missing", "default 'cuda' is missing"),
        ("see https://example.org/a/b, fa3/p1 or n/a", "see https://example.org/a/b, fa3/p1 or n/a"),
    ],
)
def test_absolute_folders_are_cut_off(text: str, left: str) -> None:
    assert without_folders(text) == left
