"""SGLang in this process: imported once, its process-wide state set up once and kept, its warnings kept too."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from backends.driver import FellBack, MissingPackage
from backends.sglang import torchvision_stub
from backends.sglang.versions import names_for

if TYPE_CHECKING:
    from backends.driver import Stage

# Logged once a process and row size when the copy kernel that writes K and V cannot be built; a slower indexing path then
# runs under every backend. Source: sglang/jit_kernel/kvcache.py (0.5.16), sglang/kernels/ops/kvcache/kvcache.py (0.5.22).
FALLBACK_MARK = "JIT KV-Cache"
MOST_WARNINGS = 20
# What building a backend and its batches imports, 0.5.16 and 0.5.22; a version that lacks one imports the others.
MODULES = (
    "sglang",
    "sglang.srt.runtime_context",
    "sglang.srt.server_args",
    "sglang.srt.configs.model_config",
    "sglang.srt.layers.attention.attention_registry",
    "sglang.srt.layers.radix_attention",
    "sglang.srt.mem_cache.memory_pool",
    "sglang.srt.model_executor.cuda_graph_config",
    "sglang.srt.model_executor.forward_batch_info",
    "sglang.srt.model_executor.forward_context",
    "sglang.srt.model_executor.runner.decode_cuda_graph_runner",
)


class EngineContext:
    """What the arms of one process share: the imported engine, the forced topology, the published arguments.

    ``warnings`` holds what the engine logged (each text once, the first `MOST_WARNINGS`), and a label where its version is
    not one the names were read from.
    """

    def __init__(self) -> None:
        listener = _listening()
        self.warnings, self.fallbacks = listener.warnings, listener.fallbacks
        torchvision_stub.install_if_needed()
        self.version: str = imported("sglang").__version__
        self.names, label = names_for(self.version)
        if label:
            self.warnings.append(label)
        self._open = ExitStack()  # never closed: several reads of the topology and the arguments are lazy
        self._runtime = imported("sglang.srt.runtime_context")
        self._open.enter_context(self._runtime.get_parallel().override(**self.names.PARALLEL))
        self._published: Any = None

    def arguments(self, fields: dict[str, Any]) -> Any:
        """A fresh ServerArgs with ``fields`` set, published; names this version does not have are left out."""
        known = self.names.argument_names()
        override = self._runtime.get_context().override_server_args(**{key: value for key, value in fields.items() if key in known})
        self._published = override.install()
        return self._published

    def publish(self, arguments: Any) -> None:
        """Make one arm's arguments the process-wide ones."""
        if self._published is not arguments:
            self._runtime.get_context().set_server_args(arguments)
            self._published = arguments

    def raise_on_fallback(self) -> None:
        """Raise `FellBack` if the engine said that a slower path than the served one is running."""
        if self.fallbacks:
            raise FellBack(f"SGLang {self.version} fell back: {self.fallbacks[0]}")


class _Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.warnings: list[str] = []
        self.fallbacks: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if text not in self.warnings and len(self.warnings) < MOST_WARNINGS:
            self.warnings.append(text)
        if FALLBACK_MARK in text:
            self.fallbacks.append(text)


def _listening() -> _Listener:
    """The one listener of this process: what the engine logs while it is imported ahead of its first arm counts too."""
    log = logging.getLogger("sglang")
    for handler in log.handlers:
        if isinstance(handler, _Listener):
            return handler
    log.addHandler(listener := _Listener())
    return listener


def import_ahead(packages: Sequence[str]) -> None:
    """Import what the first arm would, ``packages`` included, and set nothing up. What is missing is left for the arm to report."""
    _listening()
    torchvision_stub.install_if_needed()
    for name in (*MODULES, *packages):
        with suppress(Exception):  # an import may raise anything
            importlib.import_module(name)


def shared_context(stage: Stage) -> EngineContext:
    """The one context of this process, made by the first arm that needs it."""
    if "sglang" not in stage.extras:
        stage.extras["sglang"] = EngineContext()
    context: EngineContext = stage.extras["sglang"]
    return context


def imported(name: str) -> Any:
    """The module ``name``. Raises `MissingPackage` naming the module that is not there, or that does not load."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise missing(error, name) from error


def missing(error: ImportError, wanted: str) -> MissingPackage:
    text = f"module {error.name or wanted} cannot be imported ({error})"
    return MissingPackage(f"{text}; install it where the engine runs, or add its folder to engine.path")
