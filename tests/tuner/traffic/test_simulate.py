from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.tuner.traffic.building import PACE, requests, rules
from tuner.traffic.requests import Requests
from tuner.traffic.simulate import held_tokens, simulate
from tuner.traffic.simulated import Rules, Simulated

lengths = st.lists(st.tuples(st.integers(1, 400), st.integers(1, 60)), min_size=1, max_size=25)
bounds = st.builds(
    rules,
    running=st.integers(1, 8),
    chunk=st.integers(1, 300),
    pool=st.one_of(st.none(), st.integers(500, 2000)),
    page_size=st.sampled_from([1, 16]),
    mixed=st.booleans(),
    accepted=st.sampled_from([1.0, 2.5]),
)


def running_at(run: Simulated, step: int) -> np.ndarray:
    return np.flatnonzero((run.joined <= step) & (run.joined + run.steps > step))


def asked(data: st.DataObject) -> tuple[Requests, Rules, Simulated]:
    found, limits = data.draw(lengths), data.draw(bounds)
    gaps = data.draw(st.one_of(st.none(), st.lists(st.floats(0, 2), min_size=len(found), max_size=len(found))))
    cached = [data.draw(st.integers(0, prompt - 1)) for prompt, _ in found]
    wanted = requests(*found, arrival_s=None if gaps is None else np.cumsum(gaps), cached=cached).fitted(460, limits.page_size)
    return wanted, limits, simulate(wanted, limits, PACE)


@given(st.data())
def test_every_token_of_every_prompt_is_computed_once_and_in_order(data: st.DataObject) -> None:
    wanted, limits, run = asked(data)
    for request in range(len(wanted)):
        pieces = np.flatnonzero(run.piece_request == request)
        ends = run.piece_prefix[pieces] + run.piece_new[pieces]
        assert run.piece_prefix[pieces].tolist() == [wanted.cached[request], *ends[:-1]] and ends[-1] == wanted.prompt[request]
    assert np.bincount(run.piece_step, run.piece_new).max() <= limits.chunk


@given(st.data())
def test_every_output_token_is_made(data: st.DataObject) -> None:
    wanted, limits, run = asked(data)
    assert (1 + run.steps * limits.accepted >= wanted.output).all() and (run.steps == np.ceil((wanted.output - 1) / limits.accepted)).all()


@given(st.data())
def test_no_step_has_more_requests_or_tokens_than_the_server_takes(data: st.DataObject) -> None:
    wanted, limits, run = asked(data)
    held = held_tokens(wanted, limits.page_size)
    for step in run.joined:
        together = running_at(run, int(step))
        assert len(together) <= limits.running
        assert limits.pool is None or len(together) < 2 or held[together].sum() <= limits.pool


@given(st.data())
def test_nobody_is_let_in_before_it_came_or_before_whoever_came_earlier(data: st.DataObject) -> None:
    wanted, _, run = asked(data)
    assert (np.diff(run.joined) >= 0).all() and (np.diff(run.first_s) >= 0).all() and (run.waited_s >= 0).all()
    assert (run.left_s >= run.first_s).all() and run.left_s.max() == run.end_s
    assert (run.first_s > run.asked_s + run.waited_s).all() and (run.asked_s >= 0).all()
    if wanted.arrival_s is not None:
        assert (run.asked_s == wanted.arrival_s).all()


def test_callers_that_wait_for_their_answers_never_have_more_than_one_request_each() -> None:
    run = simulate(requests(*[(100, 20)] * 30), rules(at_once=4), PACE)
    assert max(len(running_at(run, step)) for step in run.joined) == 4
    assert run.waited_s.max() == 0


def test_a_pool_that_holds_a_third_of_the_callers_lets_the_others_queue() -> None:
    run = simulate(requests(*[(80, 20)] * 60), rules(pool=1000, at_once=30), PACE)
    assert max(len(running_at(run, step)) for step in run.joined) == 10
    assert set(run.held_back) == {10} and (run.waited_s > 0).mean() > 0.5


def test_a_shared_prefix_lies_in_the_pool_once() -> None:
    alone, shared = (
        simulate(requests(*[(80, 20)] * 40, cached=[64] * 40, shared=prefix), rules(pool=1000, at_once=40), PACE) for prefix in (0, 64)
    )
    assert max(shared.held_back) == (1000 - 64) // (100 - 64) > max(alone.held_back) == 10


def test_a_long_prompt_comes_in_chunks_before_anything_is_decoded() -> None:
    run = simulate(requests((10, 50), (1000, 2), arrival_s=(0.0, 0.001)), rules(chunk=300), PACE)
    assert run.piece_new.tolist() == [10, 300, 300, 300, 100]
    assert set(run.decoded.tolist()) == {0}


def test_with_mixed_chunks_requests_decode_while_a_prompt_is_computed() -> None:
    run = simulate(requests((10, 50), (1000, 2), arrival_s=(0.0, 0.001)), rules(chunk=300, mixed=True), PACE)
    assert run.decoded[run.mixed > 0].tolist() == [0, 1, 2, 3]


def test_the_clock_counts_steps_and_waits_for_arrivals() -> None:
    run = simulate(requests((100, 11), (100, 1), arrival_s=(0.0, 5.0)), rules(), PACE)
    assert 0.110 < run.left_s[0] < 0.111 and 5.010 < run.left_s[1] < 5.011


def test_accepted_tokens_shorten_the_decode() -> None:
    plain, drafted = (simulate(requests((100, 61)), rules(accepted=accepted), PACE) for accepted in (1.0, 3.0))
    assert (plain.steps.tolist(), drafted.steps.tolist()) == ([60], [20])
