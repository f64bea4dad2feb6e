"""The board under this worker."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from backends import cuda_driver, nvml
from backends.environment import Board
from backends.worker import accelerators
from backends.worker.processor import processor

MIG = " MIG "  # between the GPU's name and the slice's profile


def here(kinds: Iterable[str]) -> Board:
    """The first visible device of the first of ``kinds`` (`backends.gpu.KINDS`) that is there, else the processor."""
    boards = (READERS[kind]() for kind in kinds if kind in READERS)
    return next((board for board in boards if board is not None), None) or processor()


def served_by(torch: Mapping[str, Any]) -> tuple[str, ...]:
    """The kinds of device that a torch serves on; ``torch`` holds the names of its version.py."""
    builds = {"cuda": "cuda", "hip": "rocm", "xpu": "xpu"}
    found = [kind for name, kind in builds.items() if torch.get(name)]
    if torch and importlib.util.find_spec("torch_npu"):
        found.append("npu")
    return (*found, "mps") if torch else ()  # every torch on Apple silicon has MPS


def first_gpu() -> nvml.Device | None:
    """The first visible GPU as NVML knows it (of a MIG slice, the GPU it is cut from); None where it does not."""
    device = first_device()
    return device.whole() if device else None


def first_device() -> nvml.Device | None:
    """The first visible device as NVML knows it, a MIG slice for itself; None where it does not."""
    device = cuda_driver.first_device()
    return _handle(_full_uuid(device.uuid)) if device else None


def visible() -> tuple[str, ...]:
    """UUIDs of all visible devices, by which CUDA_VISIBLE_DEVICES may name each; none where one does not tell its own."""
    found = tuple(_full_uuid(device.uuid) for device in cuda_driver.visible_devices())
    return tuple(uuid for uuid in found if uuid) if all(found) else ()


def is_slice() -> bool:
    """Whether the first visible device is a MIG slice, whose GPU others may use at the same time."""
    device = cuda_driver.first_device()
    return device is not None and (_full_uuid(device.uuid) or "").startswith("MIG-")


def nvidia_gpu() -> Board | None:
    """What the CUDA driver calls device 0: it knows CUDA_VISIBLE_DEVICES (index, UUID, MIG slice) and the order of unlike GPUs."""
    device = cuda_driver.first_device()
    return None if device is None else _gpu(device)


def _gpu(device: cuda_driver.CudaDevice) -> Board:
    uuid = _full_uuid(device.uuid)
    handle = _handle(uuid)
    whole = handle.whole() if handle else None
    memory = handle.memory() if handle else None
    mig = _profile(handle, uuid, device.name)
    return Board(
        kind="cuda",
        name=((whole and whole.name()) or device.name).partition(MIG)[0],
        sm=device.sm,
        uuid=uuid,
        memory_bytes=memory.total_bytes if memory else device.memory_bytes,
        power_limit_w=whole.power_limit_w() if whole else None,
        mig=mig,
        driver=nvml.driver_version(),
        sm_count=device.sm_count,
        l2_bytes=device.l2_bytes,
        smem_per_block_bytes=device.smem_per_block_bytes,
        max_sm_clock_mhz=whole.max_sm_clock_mhz() if whole else None,
        bandwidth_bytes_per_s=device.bandwidth_bytes_per_s if mig is None else None,  # a slice has an unknown share
    )


def _full_uuid(bare: str | None) -> str | None:
    """The driver tells a UUID without saying whether it is a GPU's or a MIG slice's; NVML knows just one of the two."""
    if bare is None:
        return None
    return next((full for full in (f"GPU-{bare}", f"MIG-{bare}") if nvml.device_by_uuid(full)), f"GPU-{bare}")


def _handle(uuid: str | None) -> nvml.Device | None:
    return None if uuid is None else nvml.device_by_uuid(uuid)


def _profile(handle: nvml.Device | None, uuid: str | None, cuda_name: str) -> str | None:
    """Of "NVIDIA H200 MIG 1g.18gb" the "1g.18gb", as NVML or CUDA names it; else made of the slice's sizes. None = no slice."""
    names = ((handle.name() if handle else None) or "", cuda_name)
    if told := next((name.partition(MIG)[2] for name in names if MIG in name), None):
        return told
    if handle is None or uuid is None or not uuid.startswith("MIG-"):
        return None
    return _profile_of(handle.mig_attributes())


def _profile_of(sizes: nvml.MigAttributes | None) -> str:
    if sizes is None:
        return "unnamed slice"
    share = f"{sizes.compute_slices}c." if sizes.compute_slices < sizes.gpu_slices else ""
    return f"{share}{sizes.gpu_slices}g.{round(sizes.memory_mib / 1024)}gb"


READERS: dict[str, Callable[[], Board | None]] = {
    "cuda": nvidia_gpu,
    "rocm": accelerators.amd_gpu,
    "xpu": lambda: accelerators.pci_card("xpu"),
    "npu": lambda: accelerators.pci_card("npu"),
    "mps": accelerators.mac,
}
