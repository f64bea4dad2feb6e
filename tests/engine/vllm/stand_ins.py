"""Runs where vLLM's Python files are, without what else it needs: puts stand-ins there and lets `backends.vllm.asked` answer.

What a backend asks of its libraries is answered as on a whole installation: FlashInfer with its cubins, tokenspeed_mla, b12x.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import inspect
import os
import sys
from types import ModuleType
from typing import Any

# A server nobody starts, traces nobody reads, a tokenizer nobody uses, and vLLM's own parsers of what a model said.
ABSENT = (
    *("blake3", "cachetools", "cbor2", "cloudpickle", "cpuinfo", "fastapi", "llguidance", "mistral_common", "opentelemetry"),
    *("prometheus_client", "uvicorn", "uvloop", "vllm.parser", "vllm.reasoning"),
)
KERNELS = (
    "b12x",
    "flashinfer",
    "flashinfer_cubin",
    "hpc",
    "tokenspeed_mla",
    "cutlass",
    "cuda",
    "quack",
    "vllm.vllm_flash_attn.cute.interface",
)


class Wrapper:
    """FlashInfer's latent attention, whose signature vLLM reads."""

    def run(self, *, ckv_scale_arr: Any = None) -> None: ...


class _Made(type):
    def __getattr__(cls, name: str) -> Any:
        return _make(name)

    def __getitem__(cls, parameters: Any) -> Any:
        return cls


def _make(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Wrapper if name == "BatchMLAPagedAttentionWrapper" else _Made(name, (), {})


class StandIn(ModuleType):
    __path__: list[str] = []
    __version__ = "99.0"

    def __getattr__(self, name: str) -> Any:
        return _make(name)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        mine = any(fullname == name or fullname.startswith(f"{name}.") for name in (*ABSENT, *KERNELS))
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True) if mine else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Every name is made when asked for."""


def main() -> None:
    assert "ckv_scale_arr" in inspect.signature(Wrapper.run).parameters
    os.environ["VLLM_HAS_FLASHINFER_CUBIN"] = "1"
    sys.meta_path.insert(0, Finder())
    from backends.vllm.asked import ask

    ask.main()
