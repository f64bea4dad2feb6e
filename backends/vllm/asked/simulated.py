"""Makes a vLLM believe in an NVIDIA GPU that is not here: its platform answers what a question says, and kernels that came with vLLM
and need a driver to load count as loaded.

A machine: {"name", "sm", "memory_bytes", "sm_count"}, the last two perhaps None.
"""

from __future__ import annotations

import importlib
import sys
from functools import _lru_cache_wrapper, cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

# Compiled parts whose presence backends ask for by importing them.
COMPILED = (
    *("vllm._C_stable_libtorch", "vllm._moe_C_stable_libtorch", "vllm._flashmla_C", "vllm._flashmla_extension_C"),
    *("vllm.vllm_flash_attn._vllm_fa2_C", "vllm.vllm_flash_attn._vllm_fa3_C"),
)

CUTLASS_MLA = "vllm.v1.attention.backends.mla.cutlass_mla"

Machine = dict[str, Any]

_now: Machine = {}


def become(machine: Machine) -> None:
    """From now on, for all that asks the platform. What vLLM remembers of the machine before is forgotten."""
    _now.clear()
    _now.update(machine)
    _install()
    for module in ("vllm.utils.flashinfer", "vllm.v1.attention.selector"):
        for value in list(vars(importlib.import_module(module)).values()):
            if isinstance(value, _lru_cache_wrapper):
                value.cache_clear()


@cache
def _install() -> None:
    for name in COMPILED:
        _load(name)
    import vllm.platforms as platforms
    from vllm.platforms import cuda
    from vllm.platforms.interface import DeviceCapability

    class SimulatedGpu(cuda.CudaPlatformBase):  # type: ignore[misc]
        @classmethod
        def get_device_capability(cls, device_id: int = 0) -> Any:
            return DeviceCapability(*divmod(_now["sm"], 10))

        @classmethod
        def get_device_name(cls, device_id: int = 0) -> str:
            return str(_now["name"])

        @classmethod
        def get_device_total_memory(cls, device_id: int = 0) -> int:
            return int(_now["memory_bytes"] or 0)

        @classmethod
        def num_compute_units(cls, device_id: int = 0) -> int:
            return int(_now["sm_count"] or 1)

    platforms._current_platform = SimulatedGpu()
    _import_without_memory(CUTLASS_MLA)


def _import_without_memory(name: str) -> None:
    """A module that takes device memory while it is imported."""
    import torch

    empty = torch.empty

    def nowhere(*size: Any, device: Any = None, **options: Any) -> Any:
        return empty(*size, device="meta" if str(device).startswith("cuda") else device, **options)

    torch.empty = nowhere
    try:
        importlib.import_module(name)
    except (ImportError, OSError):
        pass  # a release without it, or one that lacks a library: the selector says so itself
    finally:
        torch.empty = empty


def _load(name: str) -> None:
    """Really, else as an empty module where its file is there. Its package comes later: it looks for the module once."""
    file = _file(name)
    if file is None:
        return
    spec = spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None, file
    try:
        sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    except (ImportError, OSError):
        sys.modules[name] = ModuleType(name)


def _file(name: str) -> Path | None:
    vllm = find_spec("vllm")
    if vllm is None or vllm.origin is None:
        return None
    *folders, leaf = name.split(".")[1:]
    return next(Path(vllm.origin).parent.joinpath(*folders).glob(f"{leaf}.*so"), None)
