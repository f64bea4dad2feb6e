from __future__ import annotations

import torch

from backends.memory import Growth, held, taken, total


class Allocator:
    """Counts as torch's does."""

    def __init__(self, allocated: int) -> None:
        self.allocated = allocated

    def read(self) -> int | None:
        return self.allocated


def test_a_growth_is_what_was_gained_since_it_was_made() -> None:
    allocator = Allocator(allocated=700)
    grown = Growth(allocator.read)
    assert grown.bytes == 0
    allocator.allocated += 512
    assert grown.bytes == 512
    allocator.allocated -= 500  # something from before was freed meanwhile
    assert grown.bytes == 12


def test_two_growths_of_one_allocator_do_not_disturb_each_other() -> None:
    allocator = Allocator(allocated=0)
    outer = Growth(allocator.read)
    allocator.allocated = 100
    inner = Growth(allocator.read)
    allocator.allocated = 130
    assert (outer.bytes, inner.bytes) == (130, 30)


def test_nothing_is_counted_on_a_cpu() -> None:
    device = torch.device("cpu")
    kept = [torch.ones(1000)]
    assert Growth(held(device)).bytes is None and Growth(taken(device)).bytes is None and kept


def test_a_sum_with_an_unknown_part_is_unknown() -> None:
    assert total(3, -1, 0) == 2
    assert total(3, None) is None
