from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from backends.cell import Phase
from tests.tuner.traffic.building import PACE, requests, rules
from tests.tuner.traffic.test_simulate import asked
from tuner.traffic.simulate import simulate
from tuner.traffic.steps import decode_steps, prefill_steps


@given(st.data())
def test_steps_make_the_tokens_that_were_asked_for_and_no_others(data: st.DataObject) -> None:
    wanted, limits, run = asked(data)
    decode, prefill = decode_steps(wanted, run, PACE, limits.accepted), prefill_steps(wanted, run, PACE, limits.accepted)
    beside = prefill.batch.sum() - len(run.piece_step)  # requests that decoded within a prefill
    assert np.isclose((decode.count * decode.batch).sum() + beside, run.steps.sum())
    assert np.isclose(prefill.tokens.sum(), (wanted.prompt - wanted.cached).sum())


@given(st.data())
def test_the_requests_of_a_step_are_as_many_and_as_long_as_the_columns_say(data: st.DataObject) -> None:
    wanted, limits, run = asked(data)
    for steps in (decode_steps(wanted, run, PACE, limits.accepted), prefill_steps(wanted, run, PACE, limits.accepted)):
        for index in range(len(steps.count)):
            shape = steps.shape(index)
            assert len(shape.contexts) == round(steps.batch[index]) and sum(shape.new) == round(steps.new[index])
            assert abs(sum(shape.contexts) - steps.keys[index]) <= len(shape.contexts)  # a fraction of an accepted token each
            assert all(1 <= new <= context for new, context in zip(shape.new, shape.contexts))
            assert all(1 <= prompt <= context for prompt, context in zip(shape.prompts, shape.contexts))


def test_a_long_answer_alone_is_cut_where_its_context_has_grown() -> None:
    wanted = requests((100, 2001))
    steps = decode_steps(wanted, simulate(wanted, rules(), PACE), PACE)
    assert steps.phase is Phase.DECODE and np.isclose(steps.count.sum(), 2000)
    spans = steps.keys + steps.count / 2
    assert len(steps.count) > 10 and (np.diff(spans) > 0).all() and spans[-1] <= 2101
    assert np.isclose((steps.count * steps.keys).sum() / 2000, 1100, rtol=1e-3)  # the mean context, 101 to 2100


def test_the_attention_of_a_prefill_is_the_sum_over_its_pieces() -> None:
    wanted = requests((1000, 1), (500, 1), cached=(200, 0))
    steps = prefill_steps(wanted, simulate(wanted, rules(at_once=2), PACE), PACE)
    pairs = 800 * (200 + 801 / 2), 500 * 501 / 2
    read = 1000 * 1e-8, 500 * 1e-8
    assert np.isclose(steps.attention_s[0], sum(max(each * 1e-12, keys) for each, keys in zip(pairs, read)))
