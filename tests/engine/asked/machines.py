"""Machines that SGLang is made to believe in."""

from __future__ import annotations

from tuner.engines.sglang.resolver.request import Machine

LARGE, SMALL = 183359.0, 46068.0


def _nvidia(sm: int, cuda: tuple[int, ...] = (13, 0), memory_mib: float = 81559.0, flashinfer: bool = True) -> Machine:
    return Machine("cuda", sm, cuda, memory_mib, flashinfer)


MACHINES: dict[str, Machine] = {
    "h100": _nvidia(90),
    "h100-slice": _nvidia(90, memory_mib=SMALL),
    "h100-cuda-12.2": _nvidia(90, (12, 2)),
    "h100-plain": _nvidia(90, flashinfer=False),
    "a100": _nvidia(80),
    "l40s": _nvidia(89, memory_mib=SMALL),
    "l40s-plain": _nvidia(89, memory_mib=SMALL, flashinfer=False),
    "t4": _nvidia(75, memory_mib=15360.0),
    "b200": _nvidia(100, memory_mib=LARGE),
    "b300": _nvidia(103, memory_mib=LARGE),
    "b200-cuda-12.6": _nvidia(100, (12, 6), LARGE),
    "thor": _nvidia(110, memory_mib=125771.0),
    "rtx-5090": _nvidia(120, memory_mib=32607.0),
    "gb10": _nvidia(121, memory_mib=122502.0),
    "mi300": Machine("rocm", memory_mib=196288.0),
    "mi300-preshuffled": Machine("rocm", memory_mib=196288.0, preshuffled_mqa=True),
    "xpu": Machine("xpu", memory_mib=61440.0),
    "xpu-plain": Machine("xpu", memory_mib=61440.0, xmx=False),
    "npu": Machine("npu", memory_mib=62420.0),
    "cpu": Machine("cpu", memory_mib=262144.0),
    "cpu-amx": Machine("cpu", memory_mib=262144.0, amx=True),
    "cpu-arm": Machine("cpu", memory_mib=262144.0, arm64=True),
    "mac": Machine("mps", memory_mib=98304.0, arm64=True),
    "musa": Machine("musa", memory_mib=81920.0),
    "hpu": Machine("hpu", memory_mib=98304.0),
}
