"""A prefill over a prefix in a model with windows: engines compute it in two parts, over the prefix and over the new tokens, each with a
window of its own, and in layers without a window with none. Every way to get one of them wrong must show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from backends.cell import Cell
from backends.checks.attention import visible
from backends.checks.checker import Checker
from backends.checks.needles import judge_needles, planted
from backends.checks.tolerance import Incorrect
from tests.backends.faulty import MergesTwoParts, PlainCall, Sight
from tests.backends.small import LAYER, WINDOWED, laid_out, prefill

REQUESTS = ((1500, 90), (0, 70), (40, 64))
NARROW, WIDE = (prefill(*REQUESTS, layer=replace(WINDOWED, sliding_window=window), dtype="bfloat16") for window in (32, 1024))
FULL = prefill(*REQUESTS, layer=LAYER, dtype="bfloat16")


def two_parts(of_prefix: Callable[[torch.Tensor, int], torch.Tensor], of_new: Callable[[torch.Tensor, int], torch.Tensor]) -> Sight:
    """What is seen of the prefix and of the new tokens, each by how far before its query [rows, keys] a key lies, and the window."""

    def sight(seen: torch.Tensor, positions: torch.Tensor, page_size: int, window: int | None) -> torch.Tensor:
        assert window is not None
        keys = torch.arange(seen.shape[1])
        distance = positions[:, None] - keys
        parts = torch.where(keys < int(positions[0]), of_prefix(distance, window), of_new(distance, window))
        return visible(positions, seen.shape[1], None) & parts

    return sight


def within(distance: torch.Tensor, window: int) -> torch.Tensor:
    return distance < window


def whole(distance: torch.Tensor, window: int) -> torch.Tensor:
    return distance >= 0


def one_fewer(distance: torch.Tensor, window: int) -> torch.Tensor:
    return distance < window - 1


def one_more(distance: torch.Tensor, window: int) -> torch.Tensor:
    return distance < window + 1


def of_the_first(distance: torch.Tensor, window: int) -> torch.Tensor:
    """Cut where the window of the request's first new token begins."""
    return distance[:1] < window


def none(distance: torch.Tensor, window: int) -> torch.Tensor:
    return distance < 0


OVER_THE_PREFIX = [two_parts(part, within) for part in (whole, one_fewer, one_more, of_the_first, none)]
PREFIX_NAMES = ["no window", "one key fewer", "one key more", "the first token's window", "nothing"]


def checked(cell: Cell, sight: Sight) -> None:
    data = laid_out(cell, page_size=16)
    checker, call = Checker(data, 1, None), PlainCall(data, sight)
    checker.check(lambda: call.launch(1), [1])
    checker.check_needles(lambda: call.launch(1))


@pytest.mark.parametrize("cell", [NARROW, WIDE], ids=["narrow", "wide"])
def test_two_parts_with_the_window_each_are_right(cell: Cell) -> None:
    checked(cell, two_parts(within, within))


@pytest.mark.parametrize("cell", [NARROW, WIDE], ids=["narrow", "wide"])
@pytest.mark.parametrize("sight", OVER_THE_PREFIX, ids=PREFIX_NAMES)
def test_whatever_else_is_seen_of_the_prefix_is_wrong_by_needles_alone(cell: Cell, sight: Sight) -> None:
    data = laid_out(cell, page_size=16)
    call = PlainCall(data, sight)
    call.write(1)
    with planted(data, 1, None) as needles, pytest.raises(Incorrect, match="a query aimed at one key"):
        judge_needles(needles, call.launch(1))


@pytest.mark.parametrize("part", [whole, one_fewer, one_more], ids=["no window", "one key fewer", "one key more"])
def test_another_window_over_new_tokens_that_are_longer_than_it_is_wrong(part: Callable[[torch.Tensor, int], torch.Tensor]) -> None:
    with pytest.raises(Incorrect):
        checked(NARROW, two_parts(within, part))


def test_new_keys_that_are_read_from_the_pool_before_they_are_written_are_wrong() -> None:
    """sglang/srt/layers/attention/flashinfer_backend.py 0.5.16, FlashInferIndicesUpdaterPrefill.update_sliding_window: in layers without a
    window the part over the prefix is planned over the whole context, not causal, and the new rows are written after it."""
    data = laid_out(FULL)
    call = MergesTwoParts(data)
    with pytest.raises(Incorrect, match="wrong, or never written"):
        Checker(data, 1, None).check(lambda: call.launch(1), [1])


def test_they_are_wrong_also_where_an_earlier_replay_has_written_them() -> None:
    data = laid_out(FULL)
    call = MergesTwoParts(data)
    call.write(1)
    with planted(data, 1, None) as needles, pytest.raises(Incorrect, match="a query aimed at one key"):
        judge_needles(needles, call.launch(1))
