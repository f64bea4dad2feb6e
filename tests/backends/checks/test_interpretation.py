"""Answers that are declared to deviate are held to what is declared, at the tolerance of right ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from backends.cell import Cell
from backends.checks.attention import visible
from backends.checks.checker import Checker
from backends.checks.tolerance import Incorrect
from backends.deviation import Deviation, Step
from backends.model import LayerKind
from tests.backends.faulty import PlainCall, Sight, newest
from tests.backends.small import WINDOWED, decode, laid_out, prefill

WIDE = replace(WINDOWED, sliding_window=1024)
SHORT = Deviation("sees one key fewer", ("window",), (Step.DECODE,), -1, "made up")
BLIND = Deviation("sees no window", ("window",), (Step.FRESH,), None, "made up")
BFLOAT16 = "bfloat16"


def sees(keys: Callable[[int], int | None]) -> Sight:
    """A kernel whose window is ``keys`` of the model's."""

    def sight(seen: torch.Tensor, positions: torch.Tensor, page_size: int, window: int | None) -> torch.Tensor:
        return visible(positions, seen.shape[1], None if window is None else keys(window))

    return sight


ONE_FEWER = sees(lambda window: window - 1)
NO_WINDOW = sees(lambda window: None)
WHOLE = sees(lambda window: window)


def decoded(layer: LayerKind = WINDOWED) -> Cell:
    return decode(2000, 517, 90, layer=layer, dtype=BFLOAT16)


def checked(cell: Cell, sight: Sight, deviation: Deviation | None, kv_dtype: str | None = None) -> Checker:
    data = laid_out(cell, kv_dtype=kv_dtype)
    checker, call = Checker(data, 1, None, deviation), PlainCall(data, sight)
    checker.check(lambda: call.launch(1), [1])
    checker.check_needles(lambda: call.launch(1))
    return checker


@pytest.mark.parametrize("layer", [WINDOWED, WIDE], ids=["narrow", "wide"])
def test_an_arm_that_answers_as_declared_passes_and_is_said_to_deviate(layer: LayerKind) -> None:
    assert checked(decoded(layer), ONE_FEWER, SHORT).deviates


def test_an_arm_that_answers_right_passes_whatever_is_declared_of_it_and_does_not_deviate() -> None:
    """So that a release which mends the kernel is not refused for it."""
    assert not checked(decoded(), WHOLE, SHORT).deviates


@pytest.mark.parametrize("layer", [WINDOWED, WIDE], ids=["narrow", "wide"])
@pytest.mark.parametrize(
    "sight",
    [sees(lambda window: window - 2), sees(lambda window: window + 1), NO_WINDOW, newest],
    ids=["two fewer", "one more", "no window", "newest lost"],
)
def test_any_other_answer_of_an_arm_that_is_declared_to_deviate_is_wrong(layer: LayerKind, sight: Sight) -> None:
    with pytest.raises(Incorrect, match="taken as a backend that sees one key fewer, which is declared of it: "):
        checked(decoded(layer), sight, SHORT)


@pytest.mark.parametrize("layer", [WINDOWED, WIDE], ids=["narrow", "wide"])
def test_the_same_answer_without_a_declaration_is_wrong(layer: LayerKind) -> None:
    with pytest.raises(Incorrect, match="relative error"):
        checked(decoded(layer), ONE_FEWER, None)


@pytest.mark.parametrize("sight", [sees(lambda window: window - 2), NO_WINDOW], ids=["two fewer", "no window"])
def test_beside_a_narrow_cache_needles_tell_apart_what_noise_does_not(sight: Sight) -> None:
    """Where one key more or fewer is within the budget of rounding."""
    cell = decoded(WIDE)
    assert checked(cell, ONE_FEWER, SHORT, "float8_e4m3fn").deviates
    assert not checked(cell, WHOLE, SHORT, "float8_e4m3fn").deviates
    with pytest.raises(Incorrect):
        checked(cell, sight, SHORT, "float8_e4m3fn")


def test_a_window_that_is_not_looked_at_is_one_reading_and_a_shorter_one_is_wrong_still() -> None:
    fresh = prefill((0, 100), (0, 64), layer=WINDOWED, dtype=BFLOAT16)
    assert checked(fresh, NO_WINDOW, BLIND).deviates and not checked(fresh, WHOLE, BLIND).deviates
    with pytest.raises(Incorrect):
        checked(fresh, ONE_FEWER, BLIND)


def test_what_is_wrong_by_any_reading_is_said_of_each() -> None:
    data = laid_out(decoded())
    checker, call = Checker(data, 1, None, SHORT), PlainCall(data)
    with pytest.raises(Incorrect, match=r"^relative error .* right for this dtype; taken as .*: relative error .* right for this dtype$"):
        checker.check(lambda: call.launch(1) * 1.1, [1])
