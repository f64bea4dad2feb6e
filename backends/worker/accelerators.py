"""Accelerators that attnpin plans for and cannot measure: AMD, Intel and Huawei cards, and Macs, without their libraries.

Source of the files: the Linux kernel's kfd topology (drivers/gpu/drm/amd/amdkfd) and /sys/bus/pci. PCI ids: pci.ids.
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from backends.environment import Board

ROOT = Path("/")
CARDS = {
    ("1002", "74a1"): ("rocm", "AMD Instinct MI300X", "gfx942"),
    ("1002", "75a3"): ("rocm", "AMD Instinct MI355X", "gfx950"),
    ("8086", "0bd5"): ("xpu", "Intel(R) Data Center GPU Max 1550", "xe-hpc"),
    ("8086", "0bd6"): ("xpu", "Intel(R) Data Center GPU Max 1550", "xe-hpc"),
    ("8086", "e20b"): ("xpu", "Intel(R) Arc(TM) B580 Graphics", "xe2-hpg"),
    ("19e5", "d802"): ("npu", "Ascend 910B", "910b"),
}
DEVICE_NODES = {"xpu": "dev/dri/renderD*", "npu": "dev/davinci[0-9]*"}  # without one a card cannot be used from here
VISIBLE = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")
VRAM_HEAPS = ("1", "2")
LEAST_VRAM_BYTES = 8 << 30  # less is what a processor's graphics are given of the main memory
SIMD_PER_CU = 4


def amd_gpu(root: Path = ROOT, environ: Mapping[str, str] = os.environ) -> Board | None:
    """The first visible GPU that the kernel's compute driver lists."""
    nodes = sorted((root / "sys/class/kfd/kfd/topology/nodes").glob("[0-9]*"), key=lambda node: int(node.name))
    gpus = [board for node in nodes if (board := _amd_board(node)) is not None]
    index = next((environ[name].partition(",")[0].strip() for name in VISIBLE if name in environ), "0")
    chosen = gpus[int(index) : int(index) + 1] if index.isdigit() else [gpu for gpu in gpus if gpu.uuid == index]  # "", "-1": none
    return chosen[0] if chosen else None


def pci_card(kind: str, root: Path = ROOT) -> Board | None:
    """The first card of ``kind`` ("xpu", "npu") whose PCI id is known, where its device node is there too."""
    if not any(root.glob(DEVICE_NODES[kind])):
        return None
    for device in sorted((root / "sys/bus/pci/devices").glob("*")):
        found = CARDS.get((_hex(device / "vendor"), _hex(device / "device")))
        if found is not None and found[0] == kind:
            return _board(*found)
    return None


def mac() -> Board | None:
    """Apple silicon, whose GPU shares the main memory."""
    if (platform.system(), platform.machine()) != ("Darwin", "arm64"):
        return None
    chip = subprocess.run(["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True).stdout.strip()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return replace(_board("mps", chip or "Apple MPS", "arm64"), memory_bytes=memory)


def _amd_board(node: Path) -> Board | None:
    """None for a processor, for its graphics, and where the file may not be read (another container's GPU)."""
    facts = _properties(node / "properties")
    memory = _vram_bytes(node)
    if not int(facts.get("simd_count", 0)) or memory < LEAST_VRAM_BYTES:
        return None
    arch = gfx_name(int(facts.get("gfx_target_version", 0)))
    card = CARDS.get((f"{int(facts.get('vendor_id', 0)):04x}", f"{int(facts.get('device_id', 0)):04x}"))
    board = _board("rocm", card[1] if card else f"AMD GPU {arch}", arch)
    return replace(
        board,
        uuid=f"GPU-{int(facts['unique_id']):016x}" if "unique_id" in facts else None,
        memory_bytes=memory,
        sm_count=int(facts["simd_count"]) // int(facts.get("simd_per_cu", SIMD_PER_CU)),
        smem_per_block_bytes=int(facts["lds_size_in_kb"]) << 10 if "lds_size_in_kb" in facts else None,
    )


def gfx_name(version: int) -> str:
    """The kernel's 90402 is gfx942, 90010 is gfx90a, 110001 gfx1101."""
    return f"gfx{version // 10000}{version // 100 % 100}{version % 100:x}"


def _vram_bytes(node: Path) -> int:
    banks = [_properties(bank) for bank in node.glob("mem_banks/*/properties")]
    return sum(int(bank.get("size_in_bytes", 0)) for bank in banks if bank.get("heap_type") in VRAM_HEAPS)


def _properties(file: Path) -> dict[str, str]:
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return {}
    return {name: value for name, _, value in (line.partition(" ") for line in lines)}


def _hex(file: Path) -> str:
    """The four digits of a PCI id file ("0x8086"), "" where it cannot be read."""
    try:
        return file.read_text().strip().removeprefix("0x")
    except OSError:
        return ""


def _board(kind: str, name: str, arch: str) -> Board:
    return Board(kind, name, None, None, None, None, None, None, arch=arch)
