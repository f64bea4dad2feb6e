"""What libraries in this process chose by timing it themselves: the same request may run other kernels in the next process."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from typing import Any

LENGTH = 200  # of a key or a choice in words


def choices() -> tuple[tuple[str, str], ...]:
    """(kernel and problem, choice), sorted. Of libraries that were not loaded there is nothing to tell."""
    return tuple(sorted({*_of_triton(), *_of_flashinfer()}))


def _of_triton() -> Iterator[tuple[str, str]]:
    module = sys.modules.get("triton.runtime.autotuner")
    kind = getattr(module, "Autotuner", None)
    tuners = [] if kind is None else [each for each in gc.get_objects() if issubclass(type(each), kind)]  # its word may be a proxy's
    for tuner in tuners:
        name = getattr(getattr(tuner, "base_fn", None), "__name__", "a Triton kernel")
        yield from _words(name, getattr(tuner, "cache", {}))


def _of_flashinfer() -> Iterator[tuple[str, str]]:
    tuner: Any = getattr(sys.modules.get("flashinfer.autotuner"), "AutoTuner", None)
    instance = getattr(tuner, "_instance", None)
    yield from _words("flashinfer", getattr(instance, "profiling_cache", {}))


def _words(name: str, cache: Any) -> Iterator[tuple[str, str]]:
    """Of another library's own dict; what has become something else says nothing."""
    for key, choice in cache.items() if isinstance(cache, dict) else ():
        yield f"{name} {key}"[:LENGTH], str(choice)[:LENGTH]
