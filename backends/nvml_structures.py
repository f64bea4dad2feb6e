"""The structures that NVIDIA's management library fills. Source: nvml.h of CUDA 13.0."""

from __future__ import annotations

import ctypes


class MemoryInfo(ctypes.Structure):
    """nvmlMemory_v2_t: unlike the first version it keeps the driver's own reserve out of ``used``."""

    _fields_ = [("version", ctypes.c_uint)] + [(name, ctypes.c_ulonglong) for name in ("total", "reserved", "free", "used")]


class DeviceAttributes(ctypes.Structure):
    """nvmlDeviceAttributes_t."""

    _fields_ = [
        *[(name, ctypes.c_uint) for name in ("sm_count", "copy_engines", "decoders", "encoders", "jpeg", "ofa")],
        ("gpu_slices", ctypes.c_uint),
        ("compute_slices", ctypes.c_uint),
        ("memory_mib", ctypes.c_ulonglong),
    ]


class Utilization(ctypes.Structure):
    _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]


class ProcessInfo(ctypes.Structure):
    """nvmlProcessInfo_v2_t, which the third version of the call fills too."""

    _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong), ("gpu_instance", ctypes.c_uint), ("compute_instance", ctypes.c_uint)]


class EventData(ctypes.Structure):
    """nvmlEventData_t; of an Xid ``data`` is its number."""

    _fields_ = [
        ("device", ctypes.c_void_p),
        ("kind", ctypes.c_ulonglong),
        ("data", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    ]
