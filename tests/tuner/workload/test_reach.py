from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.cell import Phase
from tests.tuner.scenarios import CHAT, server
from tuner.workload.loads import Load, decode_load, decode_loads
from tuner.workload.reach import largest_reachable, max_batch, reachable, unreachable


def load(batch: int, tokens: int, share: float) -> Load:
    return Load(f"decode-{batch}", Phase.DECODE, (tokens,) * batch, (1,) * batch, (tokens - 1,) * batch, share)


def test_a_batch_beyond_the_kv_memory_has_no_weight() -> None:
    """500000 tokens of KV and 9000 a request hold 55 of them, not 56 and not 96."""
    room = server(pool_tokens=500_000)
    kept, notes = reachable([load(55, 9000, 0.5), load(56, 9000, 0.25), load(96, 9000, 0.25)], room, 1)
    assert [(one.batch, one.share) for one in kept] == [(55, 1.0)]
    assert [note.split(" ")[0] for note in notes] == ["decode-56", "decode-96"]
    assert "504000 tokens exceed the 500000" in notes[0]
    assert max_batch(500_000, 9000, 1) == 55


def test_requests_take_whole_pages() -> None:
    room = server(pool_tokens=640)
    assert unreachable(load(10, 60, 1.0), room, 1) is None
    assert unreachable(load(10, 65, 1.0), room, 64) is not None
    assert max_batch(640, 65, 64) == 5


def test_a_limit_of_running_requests_counts_too() -> None:
    assert unreachable(load(49, 10, 1.0), server(max_running_requests=48), 1) == "the server runs at most 48 requests at once"


def test_an_unknown_capacity_drops_nothing() -> None:
    assert reachable([load(96, 10**6, 1.0)], server(pool_tokens=None), 1)[1] == ()


@given(st.integers(2000, 200_000), st.integers(1, 300), st.integers(0, 99))
def test_what_is_kept_fits_and_its_shares_sum_to_one(pool: int, concurrency: int, seed: int) -> None:
    room = server(pool_tokens=pool)
    kept, notes = reachable(decode_loads(replace(CHAT, concurrency=concurrency), room, seed), room, 1)
    assert all(sum(one.context_lens) <= pool for one in kept)
    assert not kept or sum(one.share for one in kept) == pytest.approx(1.0)
    assert kept or notes


def test_where_nothing_fits_the_largest_batch_that_does_is_taken() -> None:
    room = server(pool_tokens=12_000)
    found = largest_reachable(CHAT, room, 0, 1, 64)
    assert sum(found.context_lens) <= 12_000
    assert 1 < found.batch < 64
    assert sum(decode_load(CHAT, room, 0, found.batch + 1, 1.0).context_lens) > 12_000
    assert found.share == 1.0


def test_a_single_request_always_fits_since_it_is_cut_at_the_pool() -> None:
    room = server(pool_tokens=300)
    assert sum(largest_reachable(CHAT, room, 0, 1, 16).context_lens) <= 300
