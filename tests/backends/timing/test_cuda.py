"""The two CUDA clocks, on a GPU."""

from __future__ import annotations

import math
import time
from contextlib import AbstractContextManager
from statistics import fmean, median, stdev

import pytest
import torch

from backends.checks.checker import Checker
from backends.checks.poison import leave_poison
from backends.driver import CellData
from backends.phases import Phases
from backends.seat import Seat
from backends.spec import TimingSpec
from backends.timing.capture import ReplayedCall
from backends.timing.cuda_events import CLOCK_HZ, back_to_back_us, held_back_us, hold_back
from backends.timing.queued import QueuedCall
from backends.timing.roofline import Roofline
from backends.timing.timed import make_timed
from tests.backends.faulty import PlainCall
from tests.backends.small import arm, bench, decode, laid_out, silent

pytestmark = pytest.mark.gpu

TIMING = TimingSpec(blocks=2, replays=8, replay_ms=4.0, discard_ms=5.0, warmup_s=0.0, warmup_cap_s=0.0)
SLOTS = 5
KEPT, OUTPUT = 64 << 20, 4 << 20


class Recordable(PlainCall):
    graph = True


def cell_data() -> CellData:
    return laid_out(decode(300, 40, dtype="bfloat16"), device=torch.device("cuda"), slots=SLOTS)


def test_events_see_a_spin_of_known_length() -> None:
    cycles_us = 1000.0
    times = back_to_back_us(lambda: hold_back(cycles_us * 1e-6), discards=2, samples=5)
    clock_hz = cycles_us * CLOCK_HZ / min(times)
    assert 0.8e9 < clock_hz < 2.6e9  # an SM's clock
    assert max(times) < 1.1 * min(times)


def test_a_held_back_queue_times_the_device_and_not_the_host() -> None:
    x = torch.randn(1 << 20, device="cuda")

    def many() -> None:
        for _ in range(50):
            x.mul_(1.0)

    many()
    assert min(held_back_us(many, 0.01, 3)) < 50 * 10  # far below 50 host launches of an idle device


def test_a_graph_rotates_over_all_slots_and_is_right_on_the_last() -> None:
    data = cell_data()
    timed = ReplayedCall(Recordable(data), SLOTS, TIMING)
    assert timed.pace.launches % SLOTS == 0 and timed.mode == "graph" and timed.served_us() is None
    checker = Checker(data, SLOTS - 1, None)
    checker.check(timed.shot, timed.written)
    checker.check_needles(timed.shot)
    samples = timed.visit().us
    assert len(samples) == timed.pace.replays and all(math.isfinite(sample) and sample > 0 for sample in samples)
    assert 1.0 < samples[0] * timed.pace.launches * 1e-3 < 20.0
    timed.close()


class Hoarding(Recordable):
    """Keeps `KEPT` bytes from its first `capturing` on, and makes an output of `OUTPUT` bytes inside the graph."""

    def capturing(self) -> AbstractContextManager[None]:
        self.kept = torch.empty(KEPT, dtype=torch.uint8, device="cuda")
        return super().capturing()

    def launch(self, slot: int) -> torch.Tensor:
        return torch.zeros(OUTPUT, dtype=torch.uint8, device="cuda")


def test_a_graphs_memory_is_told_from_what_the_call_keeps_beside_it() -> None:
    timed = ReplayedCall(Hoarding(cell_data()), SLOTS, TIMING)
    assert timed.memory is not None and timed.memory.taken_bytes is not None and timed.memory.live_bytes is not None
    assert OUTPUT <= timed.memory.live_bytes < KEPT
    assert timed.memory.live_bytes <= timed.memory.taken_bytes < KEPT
    timed.close()


def test_a_seat_counts_what_its_call_keeps_and_not_what_its_graph_holds() -> None:
    class Driver:
        def prepare(self, data: CellData) -> Hoarding:
            return Hoarding(data)

    seat = Seat(arm("", kv_dtype="bfloat16"), Driver(), cell_data(), SLOTS, Phases(silent), bench("cuda"))  # type: ignore[arg-type]
    seat.capture(TIMING)
    assert seat.call_bytes is not None and KEPT <= seat.call_bytes < KEPT + OUTPUT
    seat.close()


def test_an_eager_call_has_a_device_time_below_its_served_time() -> None:
    data = cell_data()
    timed = make_timed(PlainCall(data), data, SLOTS, TIMING)
    assert isinstance(timed, QueuedCall)
    served_us = timed.served_us()
    assert served_us is not None and 0 < min(timed.visit().us) <= served_us


def test_an_output_that_is_not_written_is_full_of_nan() -> None:
    data = cell_data()
    torch.cuda.empty_cache()
    leave_poison(data)
    assert torch.empty_like(data.q).flatten().isnan().all()


def test_a_row_of_eager_calls_is_no_faster_than_the_device_and_no_slower_than_each_alone() -> None:
    data = cell_data()
    timed = make_timed(PlainCall(data), data, SLOTS, TIMING)
    seen = [timed.visit() for _ in range(3)][-1]
    assert seen.served_us is not None and min(seen.us) <= 1.02 * seen.served_us
    torch.cuda.synchronize()
    start = time.perf_counter()
    timed.shot()
    torch.cuda.synchronize()
    assert seen.served_us < 1.5 * (time.perf_counter() - start) * 1e6


WARM_S = 1.0  # as before the visits of a round
BLOCKS = 4


class HostBound(PlainCall):
    """Waits for nothing, and keeps the host busy for far longer than the device."""

    def launch(self, slot: int) -> torch.Tensor:
        for _ in range(20):
            self.data.q.add_(0.0)
        return self.data.q


@pytest.mark.parametrize("kind", [HostBound, PlainCall])
def test_an_eager_call_and_its_copy_differ_by_less_than_1_percent_over_the_blocks_of_a_process(kind: type[PlainCall]) -> None:
    """A host's pace wanders by far more from visit to visit, for both alike: what a decision rests on is their difference."""
    data = cell_data()
    one, other = (make_timed(kind(data), data, SLOTS, TIMING) for _ in range(2))
    warm = time.perf_counter() + WARM_S
    while time.perf_counter() < warm:
        one.visit()
    blocks = [[math.log(median(timed.visit().row_us)) for timed in (one, other, other, one)] for _ in range(BLOCKS)]
    differences = [(b + c) / 2 - (a + d) / 2 for a, b, c, d in blocks]
    wandered = stdev(value for block in blocks for value in block)
    print(f"\n{kind.__name__}: a copy differs by {fmean(differences):.2%}, blocks +-{stdev(differences):.2%}, visits +-{wandered:.2%}")
    assert abs(fmean(differences)) < 0.01


def test_a_visit_to_an_eager_call_takes_no_more_than_a_fifth_of_a_second() -> None:
    data = cell_data()
    timed = make_timed(HostBound(data), data, SLOTS, TIMING)
    start = time.perf_counter()
    timed.visit()
    assert time.perf_counter() - start < 0.2


def test_this_boards_limits_are_a_gpus() -> None:
    limits = Roofline(torch.device("cuda"), "bfloat16").limits
    assert 1e11 < limits.bandwidth_bytes_per_s < 2e13
    assert 1e13 < limits.flops_per_s < 1e16
