from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.cell import Cell
from backends.checks.needles import LIMIT, judge_needles, planted
from backends.checks.targets import in_draft, targets
from backends.checks.tolerance import Incorrect
from tests.backends import faulty
from tests.backends.faulty import PlainCall, Sight
from tests.backends.small import WINDOWED, decode, laid_out, prefill

DECODE = decode(200, 517, 1300, 333)
PREFILL = prefill((300, 70), (0, 400), (513, 3))
WINDOWED_DECODE = decode(200, 517, 90, layer=WINDOWED)
WINDOWED_PREFILL = prefill((40, 90), (0, 100), layer=WINDOWED)


def needle_error(cell: Cell, sight: Sight, page_size: int) -> float:
    data = laid_out(cell, page_size)
    call = PlainCall(data, sight)
    call.write(0)
    with planted(data, 0, None) as needles:
        return judge_needles(needles, call.launch(0))


@pytest.mark.parametrize("page_size", [1, 16, 64])
@pytest.mark.parametrize("cell", [DECODE, PREFILL, WINDOWED_DECODE, WINDOWED_PREFILL], ids=["decode", "prefill", "window", "window chunk"])
def test_a_right_kernel_returns_the_values_of_the_keys_aimed_at(cell: Cell, page_size: int) -> None:
    assert needle_error(cell, faulty.right, page_size) < LIMIT / 3


@pytest.mark.parametrize("page_size", [1, 16, 64])
@pytest.mark.parametrize("cell", [DECODE, PREFILL], ids=["decode", "prefill"])
@pytest.mark.parametrize(
    "sight",
    ["newest", "oldest", "first_page", "last_of_the_first_page", "last_of_the_last_full_page", "half"],
)
def test_a_kernel_that_loses_a_key_at_a_seam_is_wrong(sight: str, cell: Cell, page_size: int) -> None:
    with pytest.raises(Incorrect, match="a query aimed at one key"):
        needle_error(cell, getattr(faulty, sight), page_size)


def test_a_kernel_that_loses_the_first_key_of_the_last_page_is_wrong() -> None:
    with pytest.raises(Incorrect, match=r"\(page edge\)"):
        needle_error(DECODE, faulty.first_of_the_last_page, 16)


@pytest.mark.parametrize("cell", [WINDOWED_DECODE, WINDOWED_PREFILL], ids=["decode", "prefill"])
def test_a_kernel_that_sees_one_key_beyond_its_window_is_wrong(cell: Cell) -> None:
    with pytest.raises(Incorrect, match=r"\(hidden\)"):
        needle_error(cell, faulty.one_beyond_the_window, 1)


def test_a_kernel_that_sees_the_next_token_is_wrong() -> None:
    with pytest.raises(Incorrect, match=r"\(hidden\)"):
        needle_error(PREFILL, faulty.the_future, 1)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(2, 600), min_size=1, max_size=6), st.sampled_from([1, 16, 64]), st.integers(0, 5))
def test_whatever_the_lengths_a_lost_newest_key_shows_and_a_right_kernel_passes(contexts: list[int], page_size: int, seed: int) -> None:
    cell = replace(decode(*contexts), seed=seed)
    assert needle_error(cell, faulty.right, page_size) < LIMIT
    with pytest.raises(Incorrect):
        needle_error(cell, faulty.newest, page_size)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 3000), st.integers(0, 50), st.sampled_from([1, 16, 64]), st.sampled_from([None, 1, 32, 5000]), st.data())
def test_every_target_is_seen_or_marked_hidden(position: int, more: int, page_size: int, window: int | None, data: st.DataObject) -> None:
    prefix = data.draw(st.integers(0, position))
    found = targets(position, prefix, position + 1 + more, page_size, window)
    oldest = 0 if window is None else max(0, position - window + 1)
    for kind, key in found:
        assert 0 <= key <= position + more
        assert (oldest <= key <= position) == (kind != "hidden")
    assert found[:2] == [("oldest", oldest), ("newest", position)]


def test_the_former_queries_come_back() -> None:
    data = laid_out(DECODE)
    before = data.q.clone()
    with planted(data, 0, None):
        assert not torch.equal(data.q, before)
    assert torch.equal(data.q, before)


def test_heads_too_like_others_to_be_aimed_at_are_left_out_and_all_of_them_is_an_error() -> None:
    data = laid_out(decode(300))
    PlainCall(data).write(0)
    data.pool.k[0].fill_(1.0)
    with planted(data, 0, None) as needles, pytest.raises(Incorrect, match="no query could be aimed"):
        judge_needles(needles, PlainCall(data).launch(0))


def test_a_drafted_token_is_aimed_at_what_it_follows_and_may_not_show_its_rivals() -> None:
    tree, prefix, position = (-1, 0, 0, 2), 40, 43
    found = in_draft(targets(position, prefix, 44, 16, None), tree, position, prefix)
    assert {key for kind, key in found if kind == "hidden"} == {41}
    assert {key for kind, key in found if kind == "draft"} == {40, 42}
    assert {("oldest", 0), ("newest", 43), ("split edge", 39)} <= set(found)


@pytest.mark.parametrize("told", [None, (-1, 0, 1, 2)], ids=["its own tree", "a chain"])
def test_a_kernel_that_shows_a_drafts_rivals_is_wrong(told: tuple[int, ...] | None) -> None:
    data = laid_out(replace(prefill((300, 4), (70, 4)), draft=(-1, 0, 0, 2)))
    call = PlainCall(data)
    call.write(0)
    with planted(data, 0, None) as needles:
        true, data.cell = data.cell, replace(data.cell, draft=told or data.cell.draft)
        output = call.launch(0)
        data.cell = true
        if told is None:
            assert judge_needles(needles, output) < LIMIT / 3
        else:
            with pytest.raises(Incorrect, match=r"\(hidden\)"):
                judge_needles(needles, output)
