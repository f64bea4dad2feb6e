from __future__ import annotations

from ctypes import c_ulonglong
from statistics import median
from typing import Any

import pytest
import torch

from backends.cuda_code import Kernel, load
from backends.timing import known_duration
from backends.timing.cuda_events import back_to_back_us, hold_back
from backends.timing.sm_clock import CODE, PLACES, mean_mhz, sm_clock


def test_the_clock_is_the_middle_one_of_the_sms_that_were_read_twice() -> None:
    first = [(1000, 500), (1000, 500), (0, 0), (1000, 500)]
    last = [(41_000, 79_700), (41_000, 80_500), (41_000, 80_500), (41_000, 72_500)]  # 1980, 2000, not read before, 1800
    assert mean_mhz(first, last) == pytest.approx(1980.0)


def test_without_an_sm_that_was_read_twice_there_is_no_clock() -> None:
    assert mean_mhz([(0, 0), (5, 5)], [(9, 9), (0, 0)]) is None
    assert mean_mhz([(7, 7)], [(7, 9)]) is None  # no time passed


def test_a_processor_has_none() -> None:
    assert sm_clock(torch.device("cpu")) is None


def test_the_kernel_writes_no_further_than_there_are_places() -> None:
    assert f"setp.ge.u32 %beyond, %sm, {PLACES};" in CODE.read_text()


def spinner() -> Kernel:
    torch.ones(1, device="cuda")
    (kernel,) = load(known_duration.CODE.read_bytes(), ["attnpin_spin"])
    return kernel


def spins(kernel: Kernel, count: int, us: float) -> Any:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(count):
            kernel.launch(1, 1, torch.cuda.current_stream().cuda_stream, c_ulonglong(round(us * 1000)))
    return graph


@pytest.mark.gpu
def test_a_kernel_of_known_duration_takes_it_within_half_a_percent() -> None:
    """100 us on the GPU's own timer: the difference between kernels of 200 and of 100, in which the way from one launch to the next
    cancels."""
    kernel, count = spinner(), 40
    short, long = spins(kernel, count, 100.0), spins(kernel, count, 200.0)
    times = [(median(back_to_back_us(long.replay, 1, 8)), median(back_to_back_us(short.replay, 1, 8))) for _ in range(3)]
    assert median((twice - once) / count for twice, once in times) == pytest.approx(100.0, rel=0.005)


@pytest.mark.gpu
def test_the_clock_in_the_stream_is_the_one_that_a_spin_of_known_cycles_shows() -> None:
    torch.ones(1, device="cuda")
    clock = sm_clock(torch.device("cuda"))
    assert clock is not None
    cycles = 2_000_000
    times = back_to_back_us(lambda: torch.cuda._sleep(cycles), 3, 20, clock)
    told, seen = clock.mhz(), cycles / median(times)
    assert told is not None and told == pytest.approx(seen, rel=0.01)


@pytest.mark.gpu
def test_reading_the_clock_moves_no_visit() -> None:
    torch.ones(1, device="cuda")
    device = torch.device("cuda")
    clock, graph = sm_clock(device), spins(spinner(), 40, 100.0)
    hold_back(0.01)
    pairs = [(median(back_to_back_us(graph.replay, 1, 8, clock)), median(back_to_back_us(graph.replay, 1, 8))) for _ in range(5)]
    assert median(read / unread for read, unread in pairs) == pytest.approx(1.0, abs=0.002)
