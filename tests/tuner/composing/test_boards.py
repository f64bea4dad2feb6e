from __future__ import annotations

import dataclasses

import pytest

from backends.environment import Board
from backends.gpu import Gpu
from tuner.composing.boards import completed, on_board, reported
from tuner.errors import UsageError

H200 = Board("cuda", "NVIDIA H200", 90, "GPU-1", 150754820096, 700.0, None, "580.1", sm_count=132)
SLICE = dataclasses.replace(H200, uuid="MIG-1", mig="3g.71gb", memory_bytes=71424 << 20, sm_count=60)
CPU = Board("cpu", "AMD EPYC", None, None, 64 << 30, None, None, None, amx=True, arch="x86_64")
MI300X = Board("rocm", "AMD Instinct MI300X", None, "GPU-1", 192 << 30, None, None, None, arch="gfx942")
SHEET = Gpu("NVIDIA H200", "cuda", 90, 132, 1, 62914560, 4.8e12, 989e12, 232448, "13.0", "datasheet")
X86 = Gpu("x86 CPU", "cpu", None, None, None, None, None, None, None, None, "not seen", arch="x86_64")


def test_auto_takes_the_board_and_fills_its_rates_from_the_sheet_of_that_name():
    gpu = on_board(None, H200, [SHEET])
    assert (gpu.bandwidth_bytes_per_s, gpu.peak_flops, gpu.memory_bytes) == (4.8e12, 989e12, 150754820096)
    assert "datasheet" in gpu.source


def test_a_board_nobody_has_a_sheet_for_keeps_its_rates_unknown():
    gpu = on_board(None, dataclasses.replace(H200, name="NVIDIA X1"), [SHEET])
    assert gpu.bandwidth_bytes_per_s is None and gpu.sm == 90


def test_amx_of_the_workers_cpu_is_kept():
    assert on_board(None, CPU, [SHEET]).amx


def test_another_gpu_than_asked_for_is_refused_with_both_names():
    with pytest.raises(UsageError, match="asks for NVIDIA H200, but the worker's machine has AMD EPYC"):
        on_board(SHEET, CPU, [])


def test_any_cpu_of_the_architecture_serves_a_request_for_a_cpu_as_what_it_is():
    found = on_board(X86, CPU, [])
    assert (found.name, found.amx, found.arch, found.memory_bytes) == ("x86 CPU", True, "x86_64", 64 << 30)


@pytest.mark.parametrize(
    ("asked", "board"),
    [
        (dataclasses.replace(X86, name="arm64 CPU", arch="aarch64"), CPU),
        (dataclasses.replace(X86, name="x86 CPU with AMX", amx=True), dataclasses.replace(CPU, amx=False)),
    ],
)
def test_another_kind_of_processor_is_refused(asked, board):
    with pytest.raises(UsageError, match=f"asks for {asked.name}, but the worker's machine has AMD EPYC; use gpu=auto"):
        on_board(asked, board, [])


def test_a_slice_is_not_the_gpu_it_is_cut_from():
    with pytest.raises(UsageError, match="asks for NVIDIA H200, but the worker's machine has NVIDIA H200 MIG 3g.71gb; use gpu=auto"):
        on_board(SHEET, SLICE, [SHEET])
    found = on_board(None, SLICE, [SHEET])
    assert (found.name, found.sm_count, found.peak_flops) == ("NVIDIA H200 MIG 3g.71gb", 60, None)


@pytest.mark.parametrize("asked", [None, reported(MI300X, "a sheet")])
def test_a_device_without_drivers_is_refused_whether_asked_for_or_found(asked):
    words = "attnpin measures on NVIDIA GPUs and on CPUs, and AMD Instinct MI300X .rocm. is neither; `attnpin plan` says what the engine"
    with pytest.raises(UsageError, match=words):
        on_board(asked, MI300X, [])


def test_the_drivers_bandwidth_stands_where_no_sheet_is_known():
    known = dataclasses.replace(H200, name="NVIDIA X1", bandwidth_bytes_per_s=1e12)
    assert on_board(None, known, [SHEET]).bandwidth_bytes_per_s == 1e12


def test_a_sheet_of_another_name_changes_nothing():
    gpu = Gpu("NVIDIA L4", "cuda", 89, None, None, None, None, None, None, None, "NVML")
    assert completed(gpu, [SHEET]) == gpu
