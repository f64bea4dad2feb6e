"""A published table of Qwen3-8B on one L4 (case h12-l4-tie): predicted from the datasheet by a replay of as many callers.

Fitted to it: the share of the sheet's bandwidth that weights are read with (`tuner.traffic.pace.READING`), to the first row; so that row is
foretold once more with the share that a server on an H200 reads them with. The lengths are not published: their means follow from the
table, how they scatter is assumed both ways that serving benchmarks draw them.
"""

from __future__ import annotations

from functools import cache
from statistics import fmean

import numpy as np
import pytest
from scipy.optimize import brentq

from store.recorded_traffic import RecordedTraffic
from tests.pages.sources import value
from tests.tuner.composed import composed
from tuner.engines.lookup import rules_of
from tuner.traffic import pace
from tuner.traffic.replay import replayed
from tuner.traffic.requests import Requests
from tuner.traffic.trace import Limits, Trace
from tuner.workload.lengths import mean_tokens

POOL = 24_094
# (callers, TPOT in ms of flashinfer's column, output tokens a second, TTFT in ms)
ROWS = ((1, 60.16, 13.42, 189), (8, 66.01, 112.62, 170), (32, 96.18, 270.11, 2970), (64, 107.42, 250.85, 18349))
# n tokens a request follow from callers x n / (TTFT + (n - 1) x TPOT) = tokens a second; 33 such requests fill the pool
OUTPUT = round(np.mean([(ttft - tpot) / (1e3 * callers / rate - tpot) for callers, tpot, rate, ttft in ROWS[2:]]))
PROMPT = POOL // 33 - OUTPUT
SERVED_MS = fmean(value(f"qwen3_8b-h200/served/{other}/1/itl_ms/pin") for other in ("triton", "flashinfer"))
ALIKE, HALF, WHOLE = 0.0, 0.5, 1.0  # of the mean: how far lengths lie from it, evenly drawn


@cache
def replay(callers: int, scatter: float = HALF) -> tuple[RecordedTraffic, int]:
    """With the number that ran at once."""
    scenario = composed("model=qwen3_8b", "gpu=l4").scenario
    engine = rules_of(scenario)
    server = engine.server_for(scenario, engine.rules_for(scenario.engine.version)[0], 1)
    draws = np.random.default_rng(0).uniform(1 - scatter, 1 + scatter, (2, 400))
    prompt, output = (np.maximum(1, mean * drawn).astype(np.int64) for mean, drawn in zip((PROMPT, OUTPUT), draws))
    requests = Requests(None, prompt, output, np.zeros(400, dtype=np.int64))
    trace = Trace("made up", 400, 0, (), requests, callers, limits=Limits(pool_tokens=POOL))
    traffic = replayed(trace, scenario, server, 1)[0].traffic
    assert traffic.recorded is not None
    return traffic.recorded, traffic.concurrency


def tpot(callers: int, scatter: float = HALF) -> float:
    found = replay(callers, scatter)[0].tpot_ms
    assert found is not None
    return found[0]


@pytest.mark.parametrize("scatter", [HALF, WHOLE])
@pytest.mark.parametrize(("callers", "tpot_ms"), [row[:2] for row in ROWS])
def test_the_time_per_output_token_is_foretold(callers: int, tpot_ms: float, scatter: float) -> None:
    assert tpot(callers, scatter) == pytest.approx(tpot_ms, rel=0.1 if callers == 1 else 0.2)


@pytest.mark.parametrize(("callers", "tpot_ms"), [row[:2] for row in ROWS])
def test_the_table_is_foretold_with_what_a_server_on_another_board_reads_weights_with(
    callers: int, tpot_ms: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/against-the-engine.md: SGLang's server of this model on an H200, one caller. So nothing is fitted to the L4."""
    monkeypatch.setattr(pace, "READING", h200_reading())
    traffic, _ = replay.__wrapped__(callers)
    assert traffic.tpot_ms is not None and traffic.tpot_ms[0] == pytest.approx(tpot_ms, rel=0.1 if callers == 1 else 0.2)


def test_what_is_fitted_to_the_first_row_foretells_a_server_on_another_board() -> None:
    assert h200_step_ms(pace.READING) == pytest.approx(SERVED_MS, rel=0.1)


@cache
def h200_reading() -> float:
    return float(brentq(lambda share: h200_step_ms(share) - SERVED_MS, 0.5, 0.95))


def h200_step_ms(share: float) -> float:
    """A decode step of one request of chat's mean length, weights read with ``share`` of the sheet's bandwidth."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pace, "READING", share)
        scenario = composed("model=qwen3_8b", "gpu=h200", "traffic=chat").scenario
        clock = pace.pace_of(scenario, "bfloat16")
    context = mean_tokens(scenario.traffic.prompt, scenario.model.context_length) + 64  # half of the 128 tokens of an answer
    return 1e3 * float(clock.rest_s[1] + clock.decode_attention_s(np.array([1.0]), np.array([context]))[0])


def test_callers_of_equal_requests_fall_into_step_so_that_prefills_come_before_all_tokens_and_not_between_them() -> None:
    """Why a trace has every request's own lengths and not their means."""
    assert tpot(64, ALIKE) < 0.85 * tpot(64, HALF)


def test_the_pool_caps_the_requests_that_run_near_33_and_others_queue_from_32_callers_on() -> None:
    at_once = [replay(callers)[1] for callers, *_ in ROWS]
    assert at_once[:2] == [1, 8] and at_once[2] <= 32 and at_once[3] == pytest.approx(33, abs=3)
    queues = [any("of 24094 tokens is full and others queue" in note for note in replay(callers)[0].notes) for callers, *_ in ROWS]
    assert queues == [False, False, True, True]


def test_who_has_to_queue_waits_for_the_first_token() -> None:
    """With as many callers as run at once a few seconds at most; with twice as many about a whole request more."""
    assert 9_000 < first_token(64) < 25_000 and first_token(8) < 1_000


def first_token(callers: int) -> float:
    found = replay(callers)[0].ttft_ms
    assert found is not None
    return found[0]


@pytest.mark.parametrize("callers", [callers for callers, *_ in ROWS])
def test_a_faster_attention_kernel_hardly_moves_the_time_per_output_token(callers: int) -> None:
    """Weight reads set the pace: a tenth less of attention is less than 2 % of a step."""
    share = replay(callers)[0].decode_share
    assert share is not None and share / 10 < 0.02
