"""Visit orders: palindromes, balanced, reproducible."""

from __future__ import annotations

import random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.blocks import palindromes

ARMS = st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=6, unique=True)


@given(arms=ARMS, blocks=st.integers(0, 6), seed=st.integers())
def test_every_block_is_a_palindrome_with_two_visits_an_arm(arms: list[str], blocks: int, seed: int) -> None:
    orders = palindromes(arms, blocks, random.Random(seed))
    assert len(orders) == blocks
    for order in orders:
        assert order == order[::-1]
        assert sorted(order) == sorted(arms * 2)


@given(arms=ARMS, blocks=st.integers(1, 6), seed=st.integers())
def test_every_arm_has_the_same_mean_position(arms: list[str], blocks: int, seed: int) -> None:
    sequence = [arm for order in palindromes(arms, blocks, random.Random(seed)) for arm in order]
    means = {arm: fmean(position for position, other in enumerate(sequence) if other == arm) for arm in arms}
    assert set(means.values()) == {(len(sequence) - 1) / 2}


def test_the_seed_alone_decides_the_order() -> None:
    arms = ["fa3/p1", "flashinfer/p1", "triton/p1"]
    assert palindromes(arms, 4, random.Random(5)) == palindromes(arms, 4, random.Random(5))
    assert palindromes(arms, 4, random.Random(5)) != palindromes(arms, 4, random.Random(6))


def test_each_block_draws_its_own_order() -> None:
    orders = palindromes(["a", "b", "c", "d"], 8, random.Random(0))
    assert len({tuple(order) for order in orders}) > 4


def test_an_arm_named_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="arms repeat"):
        palindromes(["fa3/p1", "fa3/p1"], 4, random.Random(0))


def test_a_negative_number_of_blocks_is_refused() -> None:
    with pytest.raises(ValueError, match="blocks is -1"):
        palindromes(["fa3/p1"], -1, random.Random(0))
