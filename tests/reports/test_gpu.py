from __future__ import annotations

from dataclasses import replace

from backends.gpu import Gpu
from reports.gpu import gpu_section
from reports.page import text

H200 = Gpu("NVIDIA H200", "cuda", 90, 132, 150754820096, 62914560, 4.8e12, 989e12, 232448, "13.0", "a sheet", peak_flops_fp8=1979e12)
UNKNOWN = Gpu("NVIDIA X1", "cuda", 130, None, 80 << 30, None, None, None, None, None, "the driver")
CPU = Gpu("arm64 CPU", "cpu", None, None, None, None, None, None, None, None, "not seen", arch="aarch64")


def test_a_known_gpu_is_told_with_its_peaks_labelled() -> None:
    assert text(gpu_section(H200)).splitlines() == [
        "GPU: NVIDIA H200",
        "  cuda, sm 90, 132 SMs, 140 GiB of memory, 60 MiB of L2, 227 KiB of shared memory a block",
        "  nominal peaks (datasheet or driver), dense, not measured: 4800 GB/s, 989 TFLOP/s in bfloat16, 1979 TFLOP/s in fp8",
        "  source: a sheet",
    ]


def test_what_nobody_knows_of_a_gpu_is_listed() -> None:
    said = text(gpu_section(UNKNOWN))
    assert "  cuda, sm 130, 80.0 GiB of memory\n" in said and "nominal peaks" not in said
    assert "  unknown: memory bandwidth, peak arithmetic, SM count, L2 size, shared memory a block\n" in said


def test_a_processor_is_called_one() -> None:
    said = text(gpu_section(CPU))
    assert said.startswith("Processor: arm64 CPU\n  cpu, aarch64, without AMX\n")
    assert "with AMX" in text(gpu_section(replace(CPU, amx=True)))


def test_units_are_called_by_their_makers_word() -> None:
    assert "304 compute units" in text(gpu_section(replace(H200, kind="rocm", sm=None, sm_count=304)))
