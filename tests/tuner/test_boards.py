from __future__ import annotations

import dataclasses

import pytest

from backends.environment import Board
from backends.gpu import Gpu
from tuner.boards import completed, on_board
from tuner.errors import UsageError

H200 = Board("cuda", "NVIDIA H200", 90, "GPU-1", 150754820096, 700.0, None, "580.1", sm_count=132)
CPU = Board("cpu", "AMD EPYC", None, None, None, None, None, None, amx=True)
SHEET = Gpu("NVIDIA H200", "cuda", 90, 132, 1, 62914560, 4.8e12, 989e12, 232448, "13.0", "datasheet")


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


def test_any_cpu_serves_a_request_for_a_cpu():
    asked = Gpu("x86 CPU", "cpu", None, None, None, None, None, None, None, None, "not seen")
    assert on_board(asked, CPU, []) == asked


def test_a_sheet_of_another_name_changes_nothing():
    gpu = Gpu("NVIDIA L4", "cuda", 89, None, None, None, None, None, None, None, "NVML")
    assert completed(gpu, [SHEET]) == gpu
