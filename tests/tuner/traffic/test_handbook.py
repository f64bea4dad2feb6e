"""A published table of Qwen3-8B on one L4 (case h12-l4-tie): predicted from the datasheet by a replay of as many callers."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from store.recorded_traffic import RecordedTraffic
from tests.tuner.composed import composed
from tuner.engines.lookup import rules_of
from tuner.traffic.replay import replayed
from tuner.traffic.requests import Requests
from tuner.traffic.trace import Limits, Trace

POOL = 24_094
# (callers, TPOT in ms of flashinfer's column, output tokens a second, TTFT in ms)
ROWS = ((1, 60.16, 13.42, 189), (8, 66.01, 112.62, 170), (32, 96.18, 270.11, 2970), (64, 107.42, 250.85, 18349))
# n tokens a request follow from callers x n / (TTFT + (n - 1) x TPOT) = tokens a second; 33 such requests fill the pool
OUTPUT = round(np.mean([(ttft - tpot) / (1e3 * callers / rate - tpot) for callers, tpot, rate, ttft in ROWS[2:]]))
PROMPT = POOL // 33 - OUTPUT


@cache
def replay(callers: int) -> tuple[RecordedTraffic, int]:
    """With the number that ran at once."""
    scenario = composed("model=qwen3_8b", "gpu=l4").scenario
    engine = rules_of(scenario)
    server = engine.server_for(scenario, engine.rules_for(scenario.engine.version)[0], 1)
    lengths = (np.full(400, tokens, dtype=np.int64) for tokens in (PROMPT, OUTPUT, 0))
    trace = Trace("made up", 400, 0, (), Requests(None, *lengths), callers, limits=Limits(pool_tokens=POOL))
    traffic = replayed(trace, scenario, server, 1)[0].traffic
    assert traffic.recorded is not None
    return traffic.recorded, traffic.concurrency


@pytest.mark.parametrize(("callers", "tpot_ms", "within"), [(callers, tpot, 0.1 if callers == 1 else 0.2) for callers, tpot, _, _ in ROWS])
def test_the_time_per_output_token_is_foretold(callers: int, tpot_ms: float, within: float) -> None:
    found = replay(callers)[0].tpot_ms
    assert found is not None and found[0] == pytest.approx(tpot_ms, rel=within)


def test_the_pool_caps_the_requests_that_run_and_others_queue() -> None:
    assert [replay(callers)[1] for callers, *_ in ROWS] == [1, 8, 32, 33]
    assert any("with 33 requests at once the pool of 24094 tokens is full and others queue" in note for note in replay(64)[0].notes)


@pytest.mark.parametrize("callers", [callers for callers, *_ in ROWS])
def test_a_faster_attention_kernel_hardly_moves_the_time_per_output_token(callers: int) -> None:
    """Weight reads set the pace: a tenth less of attention is less than 2 % of a step."""
    share = replay(callers)[0].decode_share
    assert share is not None and share / 10 < 0.02
