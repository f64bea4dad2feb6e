"""A stream of weights between two launches, on a GPU; which arms it stands between is in tests/tuner/racing/test_finalists.py."""

from __future__ import annotations

from statistics import median

import pytest
import torch

from backends.timing.capture import ReplayedCall
from backends.timing.instruments import Instruments
from backends.timing.sampled import PLAIN, Manner
from backends.timing.spacer import Spacer
from backends.timing.stream import Stream
from backends.timing.timed import make_timed
from tests.backends.small import decode, laid_out
from tests.backends.timing.test_cuda import TIMING, Recordable

pytestmark = pytest.mark.gpu

SIZE = 256 << 20
CONTEXTS, SLOTS = (8192,) * 8, 8


def timed(instruments: Instruments, manner: Manner) -> ReplayedCall:
    data = laid_out(decode(*CONTEXTS, dtype="bfloat16"), device=torch.device("cuda"), slots=SLOTS)
    made = make_timed(Recordable(data), data, SLOTS, TIMING, manner, instruments)
    assert isinstance(made, ReplayedCall)
    return made


def test_a_stream_reads_its_bytes_as_fast_as_memory_gives_them_and_repeats() -> None:
    torch.ones(1, device="cuda")
    once, again = (Stream(torch.device("cuda"), SIZE) for _ in range(2))
    assert once.size_bytes == pytest.approx(SIZE, rel=0.05)
    assert 0.5e12 < once.size_bytes / once.us * 1e6 < 1.2 * 8e12
    assert again.us == pytest.approx(once.us, rel=0.01)


def test_twice_the_bytes_take_twice_the_time_since_none_of_them_is_warm() -> None:
    torch.ones(1, device="cuda")
    small, large = (Stream(torch.device("cuda"), size) for size in (SIZE, 2 * SIZE))
    assert large.us / small.us == pytest.approx(large.size_bytes / small.size_bytes, rel=0.05)


def test_a_call_between_weights_takes_what_it_takes_without_them_once_they_are_taken_off() -> None:
    """Its keys are cold either way, and a plain kernel overlaps with nothing."""
    torch.ones(1, device="cuda")
    instruments = Instruments(torch.device("cuda"), {"decode": SIZE})
    plain, sandwich = timed(instruments, PLAIN), timed(instruments, Manner(spaced=True))
    plain.visit(), sandwich.visit()
    ratios = [median(sandwich.visit().us) / median(plain.visit().us) for _ in range(5)]
    assert sandwich.spacer_us is not None and sandwich.spacer_us > 20.0
    assert median(ratios) == pytest.approx(1.0, abs=0.1)
    for each in (plain, sandwich):
        each.close()


def test_only_the_cells_named_have_a_stream_between() -> None:
    torch.ones(1, device="cuda")
    instruments = Instruments(torch.device("cuda"), {"decode": SIZE})
    assert isinstance(instruments.between("decode"), Stream) and isinstance(instruments.between("other"), Spacer)
    assert instruments.between("decode") is instruments.between("decode")
