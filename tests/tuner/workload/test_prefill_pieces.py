from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tuner.scenarios import CHAT
from tuner.workload.prefill_pieces import Piece, packed, pieces_of, population

CHUNK = 8192


def test_a_prompt_comes_in_pieces_each_behind_the_earlier_ones() -> None:
    assert list(pieces_of(20000, 0, CHUNK)) == [Piece(0, 8192), Piece(8192, 8192), Piece(16384, 3616)]
    assert list(pieces_of(1000, 640, CHUNK)) == [Piece(640, 360)]


@given(st.integers(1, 50000), st.integers(0, 60000), st.integers(1, 9000))
def test_the_pieces_of_a_prompt_are_what_the_cache_does_not_hold(prompt: int, cached: int, chunk: int) -> None:
    pieces = list(pieces_of(prompt, cached, chunk))
    assert sum(piece.new for piece in pieces) == prompt - min(cached, prompt - 1)
    assert all(1 <= piece.new <= chunk for piece in pieces)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_the_cache_holds_the_share_of_prompt_tokens_that_traffic_says(share: float) -> None:
    traffic = replace(CHAT, cached_share=share)
    whole = population(Random(3), replace(CHAT, cached_share=0.0), 10**6, 10**6, 1)
    left = population(Random(3), traffic, 10**6, 10**6, 1)
    assert sum(piece.new for piece in left) / sum(piece.new for piece in whole) == pytest.approx(1 - share, abs=0.05)


def test_without_a_cache_only_long_prompts_have_a_prefix() -> None:
    pieces = population(Random(0), replace(CHAT, cached_share=0.0), 10**6, CHUNK, 1)
    assert {piece.prefix % CHUNK for piece in pieces} == {0}
    assert any(piece.prefix for piece in pieces)


def test_cached_prefixes_are_whole_pages() -> None:
    assert {piece.prefix % 64 for piece in population(Random(0), CHAT, 10**6, CHUNK, 64)} == {0}


@settings(max_examples=25)  # a hundred thousand pieces each where chunks are small
@given(st.integers(0, 2**31), st.integers(1, 128), st.integers(16, 9000))
def test_a_chunk_is_filled_or_runs_out_of_requests(seed: int, requests: int, chunk: int) -> None:
    pieces = population(Random(seed), CHAT, 32768, chunk, 1)
    taken = packed(Random(seed), pieces, chunk, requests)
    new = sum(piece.new for piece in taken)
    assert 1 <= len(taken) <= requests
    assert new <= chunk
    assert new == chunk or len(taken) == requests
    assert all(piece.new >= 1 for piece in taken)


def test_only_the_last_piece_of_a_chunk_is_cut() -> None:
    pieces = population(Random(5), CHAT, 32768, CHUNK, 1)
    *whole, last = packed(Random(5), pieces, CHUNK, 64)
    assert set(whole) <= set(pieces)
    assert any(piece.prefix == last.prefix and piece.new >= last.new for piece in pieces)
