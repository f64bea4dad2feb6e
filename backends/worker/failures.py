"""What an exception says of the arm that raised it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from backends.driver import MissingPackage, Refused
from backends.outcome import Outcome
from backends.timing.disturbance import Disturbed

DETAIL_LENGTH = 300

# By the text, since libraries raise RuntimeError for everything. The first pattern that matches decides.
TEXTS: tuple[tuple[Outcome, str], ...] = (
    # built for another torch or CUDA: the loader, or torch where the operators are that the library did not register
    (Outcome.MISSING_PACKAGE, r"undefined symbol|symbol lookup error|cannot open shared object file|'_OpNamespace' '\w+' object has no"),
    (Outcome.OUT_OF_MEMORY, r"out of memory|can't allocate memory|cannot allocate memory|not enough memory|CUBLAS_STATUS_ALLOC_FAILED"),
    (Outcome.REFUSED, r"no kernel image is available|invalid device function|device kernel image is invalid|unsupported toolchain"),
    (Outcome.CRASHED, r"CUDA error|cudaError|CUDA driver error|illegal memory access|device-side assert|unspecified launch failure"),
    (
        Outcome.BUILD_FAILED,
        r"ninja|nvcc|ptxas|error building extension|C\+\+ compile|no working C\+\+ compiler|NVRTC|failed to map segment",
    ),
)
# What a compiler or loader says last, far below the first line of the exception.
CAUSES = re.compile(r"No space left on device|Read-only file system|failed to map segment from shared object")
# By the class, without importing the library that owns it.
CLASSES: dict[str, Outcome] = {
    "OutOfMemoryError": Outcome.OUT_OF_MEMORY,
    "MemoryError": Outcome.OUT_OF_MEMORY,
    "AcceleratorError": Outcome.CRASHED,
    "CppCompileError": Outcome.BUILD_FAILED,
    "InvalidCxxCompiler": Outcome.BUILD_FAILED,
    "InductorError": Outcome.BUILD_FAILED,
    "BackendCompilerFailed": Outcome.BUILD_FAILED,
    "CompilationError": Outcome.BUILD_FAILED,
    "DSLRuntimeError": Outcome.BUILD_FAILED,  # CuTe's compiler
    "DSLOperationBuildError": Outcome.BUILD_FAILED,
    "PTXASError": Outcome.BUILD_FAILED,
    "OutOfResources": Outcome.REFUSED,  # Triton: the kernel needs more shared memory than the GPU has
}
REFUSALS = (Refused, NotImplementedError, AssertionError, ValueError, RuntimeError)


@dataclass(frozen=True)
class Failure:
    """``fatal``: the process cannot go on, as a CUDA context is lost after a faulty kernel."""

    outcome: Outcome
    detail: str
    fatal: bool = False


def describe(error: BaseException) -> Failure:
    """Outcome and one sentence: the type and first line of the exception, absolute folders cut off."""
    outcome = _outcome(error)
    return Failure(outcome, _sentence(error), fatal=outcome is Outcome.CRASHED)


def _outcome(error: BaseException) -> Outcome:
    if isinstance(error, (KeyboardInterrupt, Disturbed)):
        return Outcome.INTERRUPTED
    if isinstance(error, (MissingPackage, ImportError)):
        return Outcome.MISSING_PACKAGE
    if isinstance(error, Refused):
        return Outcome.REFUSED
    named = (found for link in _chain(error) if (found := _by_name(link)) is not None)
    return next(named, Outcome.REFUSED if isinstance(error, REFUSALS) else Outcome.CRASHED)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception and what it was raised from: libraries wrap an out-of-memory in errors of their own."""
    link: BaseException | None = error
    seen: set[int] = set()
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__


def _by_name(error: BaseException) -> Outcome | None:
    if isinstance(error, subprocess.CalledProcessError):
        return Outcome.BUILD_FAILED
    text = str(error)
    by_text = (outcome for outcome, pattern in TEXTS if re.search(pattern, text, re.IGNORECASE))
    by_class = (CLASSES[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in CLASSES)
    if isinstance(error, RuntimeError):
        return next(by_text, next(by_class, None))
    return next(by_class, next(by_text, None))


def _sentence(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    head = lines[0] if lines else ""
    if head.endswith(":") and len(lines) > 1:  # "backend='inductor' raised:" alone says nothing
        head = f"{head} {lines[1]}"
    cause = CAUSES.search(str(error))
    if cause and cause[0] not in head:
        head = f"{head} ({cause[0]})"
    if isinstance(error, (MissingPackage, Refused, Disturbed)) and head:
        return without_folders(head)[:DETAIL_LENGTH]
    return without_folders(f"{type(error).__name__}: {head}" if head else type(error).__name__)[:DETAIL_LENGTH]


def without_folders(text: str) -> str:
    """``text`` with absolute paths cut to their last part; it may end in files meant for committing."""
    return re.sub(r"(?<![\w./:~-])/(?:[\w.+@~-]+/)+([\w.+@~-]*)", r"\1", text)
