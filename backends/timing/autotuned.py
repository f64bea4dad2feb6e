"""What libraries in this process chose by timing it themselves: the same request may run other kernels in the next process."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator
from typing import Any

LENGTH = 200  # of a key or a choice in words


def choices(aside: Iterable[Any] = ()) -> tuple[tuple[str, str], ...]:
    """(kernel and problem, choice), sorted. Of libraries that were not loaded there is nothing to tell. ``aside``: the tuners there
    were before `backends.timing.garbage.set_aside`, after which the collector does not list them."""
    return tuple(sorted({*_of_triton((*aside, *tuners())), *_of_flashinfer()}))


def tuners() -> tuple[Any, ...]:
    """Triton's, as far as the collector lists them."""
    kind = getattr(sys.modules.get("triton.runtime.autotuner"), "Autotuner", None)
    return () if kind is None else tuple(each for each in gc.get_objects() if issubclass(type(each), kind))  # its word may be a proxy's


def _of_triton(found: Iterable[Any]) -> Iterator[tuple[str, str]]:
    for tuner in found:
        yield from _words(kernel_name(tuner), getattr(tuner, "cache", {}))


def kernel_name(tuner: Any) -> str:
    """Of a Triton autotuner."""
    return str(getattr(getattr(tuner, "base_fn", None), "__name__", "a Triton kernel"))


def _of_flashinfer() -> Iterator[tuple[str, str]]:
    tuner: Any = getattr(sys.modules.get("flashinfer.autotuner"), "AutoTuner", None)
    instance = getattr(tuner, "_instance", None)
    yield from _words("flashinfer", getattr(instance, "profiling_cache", {}))


def _words(name: str, cache: Any) -> Iterator[tuple[str, str]]:
    """Of another library's own dict; what has become something else says nothing."""
    for key, choice in cache.items() if isinstance(cache, dict) else ():
        yield problem(name, key), said(choice)


def problem(name: str, key: object) -> str:
    return f"{name} {key}"[:LENGTH]


def said(choice: object) -> str:
    return str(choice)[:LENGTH]
