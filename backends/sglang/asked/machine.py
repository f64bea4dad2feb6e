"""Makes an SGLang believe it runs on a machine: its own probes answer what a question says. Works for every version that has them.

What is decided while a module is imported cannot be changed afterwards; none of that takes part in resolving arguments, but for
the quantization methods it knows. A machine is a mapping with the fields of `tuner.engines.sglang.resolver.request.Machine`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from backends.sglang.asked.layouts import UnknownLayout

Machine = dict[str, Any]
Probe = Callable[[Machine], Any]

DRIVER = (580,)  # newer than any SGLang asks about, older than the one it works around
UNLIMITED = (99,)  # the CUDA release of a machine that does not say


def _nvidia(majors: tuple[int, ...], cuda: tuple[int, int]) -> Probe:
    return lambda m: m["kind"] == "cuda" and m["sm"] // 10 in majors and tuple(m["cuda"] or UNLIMITED) >= cuda


def _kind(name: str) -> Probe:
    return lambda m: m["kind"] == name


PROBES: dict[str, Probe] = {
    "is_cuda": _kind("cuda"),
    "is_hip": _kind("rocm"),
    "is_xpu": _kind("xpu"),
    "is_npu": _kind("npu"),
    "is_mps": _kind("mps"),
    "is_musa": _kind("musa"),
    "is_hpu": _kind("hpu"),
    "is_cpu": _kind("cpu"),
    "is_cuda_alike": lambda m: m["kind"] in ("cuda", "rocm"),
    "is_host_cpu_arm64": lambda m: m["arm64"],
    "is_host_cpu_x86": lambda m: not m["arm64"],
    "cpu_has_amx_support": lambda m: m["amx"],
    "xpu_has_xmx_support": lambda m: m["xmx"],
    "is_flashinfer_available": lambda m: m["flashinfer"],
    "is_hopper_with_cuda_12_3": _nvidia((9,), (12, 3)),
    "is_ampere_with_cuda_12_3": _nvidia((8,), (12, 3)),
    "is_sm80_supported": _nvidia((8,), (11, 0)),
    "is_sm90_supported": _nvidia((9,), (12, 3)),
    "is_sm100_supported": _nvidia((10,), (12, 8)),
    "is_sm100_or_sm110_supported": _nvidia((10, 11), (12, 8)),
    "is_sm110_supported": _nvidia((11,), (12, 8)),
    "is_sm120_supported": _nvidia((12,), (12, 8)),
    "is_blackwell_supported": _nvidia((10, 11, 12), (12, 8)),
    "is_blackwell": _nvidia((10, 11, 12), (12, 8)),
    "is_triton_kernels_available": lambda m: False,
    "is_gfx95_supported": lambda m: False,
    "get_device_sm": lambda m: m["sm"] or 0,
    "get_device_capability": lambda m: divmod(m["sm"], 10) if m["sm"] else (None, None),
    "get_device_memory_capacity": lambda m: m["memory_mib"],
    "get_npu_memory_capacity": lambda m: m["memory_mib"],
    "get_nvidia_driver_version": lambda m: DRIVER,
    "get_device": lambda m: device_of(m),
}

NEEDED = ("is_cuda", "is_hip", "get_device_memory_capacity")

_now: Machine = {}


def _merges_parts(machine: Machine) -> None:
    if not machine["flashinfer"]:
        raise RuntimeError("requires FlashInfer 0.6.17 or newer")


# Probes outside common: which kernels aiter and FlashInfer have, and a Mac's own check of its torch.
ELSEWHERE: tuple[tuple[str, str, Probe], ...] = (
    ("sglang.srt.layers.attention.dsa.utils", "aiter_can_use_preshuffle_paged_mqa", lambda m: m["preshuffled_mqa"]),
    ("sglang.srt.layers.attention.aiter_mla_gluon", "_gluon_fn", lambda m: m["kind"] == "rocm" or None),
    ("sglang.srt.arg_groups.model_overrides.kimi_k3", "_require_kimi_k3_cutedsl_dcp_support", _merges_parts),
    ("sglang.srt.hardware_backend.mps.runtime", "validate_mps_runtime", lambda m: None),
)
# Imported while the machine is still itself; on the machine they are asked about they would want libraries that are not here.
LATE = ("sglang.srt.dllm.algorithm", "sglang.srt.speculative.dflash_utils", "sglang.srt.speculative.dspark_components.dspark_config")


def device_of(machine: Machine) -> str:
    """What `--device` is called there: ROCm is "cuda" to torch."""
    return "cuda" if machine["kind"] == "rocm" else str(machine["kind"])


def become(machine: Machine) -> None:
    _now.clear()
    _now.update(machine)


def install() -> None:
    """Put the probes in the place of SGLang's, in every module that holds one by name. Raises `UnknownLayout`."""
    import torch

    common = _imported("sglang.srt.utils.common")
    for name in NEEDED:
        if not hasattr(common, name):
            raise UnknownLayout(f"its sglang.srt.utils.common has no {name}, by which a GPU is simulated")
    for name in LATE:
        _imported(name)
    found = [(common, name, probe) for name, probe in PROBES.items()]
    found += [(module, name, probe) for where, name, probe in ELSEWHERE if (module := _imported(where)) is not None]
    replaced = {getattr(module, name): _answering(probe) for module, name, probe in found if hasattr(module, name)}
    for module in [module for name, module in sys.modules.items() if name.split(".")[0] == "sglang"]:
        for name, value in list(vars(module).items()):
            if callable(value) and _hashable(value) and value in replaced:
                setattr(module, name, replaced[value])
    torch.cuda.get_device_capability = lambda device=None: divmod(_now["sm"] or 94, 10)


def _imported(name: str) -> Any:
    """The module, None in a release that has none of this name."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def _answering(probe: Probe) -> Callable[..., Any]:
    return lambda *args, **kwargs: probe(_now)


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
