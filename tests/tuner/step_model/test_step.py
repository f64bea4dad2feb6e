"""Attention's share of a step, against the worked example and at the borders."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from backends.cell import Cell
from backends.step.shape import RestTimes
from tests.tuner.building import H200, MODEL, decode, prefill
from tests.tuner.composed import composed
from tuner.step_model.rates import rates
from tuner.step_model.shape import shape_of
from tuner.step_model.step import HOST_GAP_MS, LEVEL, Span, Surroundings, layers_rest, params_read, rest, share, step_model
from tuner.workload.ranks import Ranks

ROOT = Path(__file__).parents[3]
# Copy bandwidth measured on an H200; the example of an 8B model in bf16 is computed from it.
MEASURED = replace(H200, bandwidth_bytes_per_s=4.3e12)
AROUND = Surroundings(MODEL, Ranks(1), "cuda", rates(MEASURED, []))
UNKNOWN = Surroundings(MODEL, Ranks(1), "cpu", rates(replace(H200, bandwidth_bytes_per_s=None, peak_flops=None), []))
MOE = replace(MODEL, params_total=235e9, params_active=22e9)


@pytest.mark.parametrize(
    "batch, context, attention_ms, low, high",
    [(8, 1024, 0.29, 0.04, 0.06), (32, 2048, 2.3, 0.25, 0.35), (64, 4096, 9.4, 0.57, 0.69), (128, 8192, 37.6, 0.84, 0.90)],
)
def test_shares_agree_with_the_worked_example(batch: int, context: int, attention_ms: float, low: float, high: float) -> None:
    model = step_model(decode(batch=batch, context=context), attention_ms, AROUND)
    assert model.share_low == pytest.approx(low, abs=0.03)
    assert model.share_high == pytest.approx(high, abs=0.03)


def test_a_small_batch_waits_for_the_weights() -> None:
    """16 GB at 0.6 to 0.92 of 4.3 TB/s, beside 256 small kernels of 1 to 4 us."""
    span = rest(decode(batch=1).cell, AROUND)
    assert span.low == pytest.approx(1000 * (16e9 - 2 * 128256 * 4096) / (0.92 * 4.3e12) + 0.256, rel=1e-6)
    assert span.high == pytest.approx(1000 * 16e9 / (0.6 * 4.3e12) + 1.024, rel=1e-3)


def test_a_long_prefill_waits_for_arithmetic() -> None:
    span = rest(prefill(new=8192).cell, AROUND)
    assert span.low > 1000 * 2 * 6.9e9 * 8192 / (0.92 * 989e12)


def test_one_token_touches_the_active_parameters_and_many_touch_all() -> None:
    assert params_read(MOE, 1)[1] == pytest.approx(22e9)
    assert params_read(MOE, 4096)[1] == pytest.approx(235e9)
    assert params_read(MODEL, 1)[1] == pytest.approx(8e9)


@given(shared=st.floats(0.0, 0.9), routed=st.floats(0.01, 1.0), tokens=st.integers(1, 512))
def test_the_bound_holds_for_models_whose_parameters_are_partly_shared(shared: float, routed: float, tokens: int) -> None:
    """A model with a dense part and experts touched with probability ``routed`` a token never reads more than the bound."""
    experts = 1 - shared
    model = replace(MODEL, params_total=1e9, params_active=1e9 * (shared + experts * routed))
    truth = 1e9 * (shared + experts * (1 - (1 - routed) ** tokens))
    low, high = params_read(model, tokens)
    assert low <= truth * (1 + 1e-9)
    assert truth <= high * (1 + 1e-9)


def test_ranks_share_the_weights_and_pay_all_reduces() -> None:
    one, four = rest(decode().cell, replace(AROUND, model=MOE)), rest(decode().cell, replace(AROUND, model=MOE, ranks=Ranks(4)))
    assert one.high and four.high
    assert one.high / 4 < four.high < one.high
    assert four.low < one.low


def test_groups_of_requests_project_their_own_tokens_and_share_the_other_products() -> None:
    """Eight groups of one request against eight ranks with eight: the same weights are read but for attention's, whole in each."""
    latent = replace(MODEL, params_total=80e9, params_active=80e9, attention_params=8e9, vocab_size=1)
    bandwidth = AROUND.rates.bandwidth_high
    assert bandwidth is not None
    divided, grouped = (replace(AROUND, model=latent, ranks=ranks) for ranks in (Ranks(8), Ranks(8, attn_dp=8)))
    more = rest(decode(batch=1).cell, grouped).low - rest(decode(batch=8).cell, divided).low
    assert more == pytest.approx(1000 * (8e9 - 1e9) * 2 / bandwidth, rel=1e-4)


def test_a_long_prefill_of_groups_multiplies_the_tokens_of_all_of_them() -> None:
    latent = replace(MODEL, params_total=80e9, params_active=80e9, attention_params=8e9, vocab_size=1)
    flops = AROUND.rates.flops_high
    assert flops is not None
    around = replace(AROUND, model=latent, ranks=Ranks(8, attn_dp=8))
    beside = rest(prefill(new=8192).cell, around).low - 1000 * 2 * 8192 * (8e9 + 72e9) / flops
    assert 0 < beside < 2  # small kernels and all-reduces: launch-bound at best


def test_narrow_weights_are_read_faster() -> None:
    narrow = replace(AROUND, model=replace(MODEL, weight_bits=8.0))
    assert rest(decode(batch=1).cell, narrow).low < 0.6 * rest(decode(batch=1).cell, AROUND).low


def test_layers_without_attention_leave_the_rest_unbounded_above() -> None:
    hybrid = replace(AROUND, model=replace(MODEL, other_layers=24))
    assert rest(decode().cell, hybrid).high is None
    assert rest(decode().cell, hybrid).low > rest(decode().cell, AROUND).low  # their small kernels
    assert step_model(decode(), 5.0, hybrid).share_low == 0.0


def test_unknown_rates_leave_the_share_open_down_to_zero() -> None:
    model = step_model(decode(), 5.0, UNKNOWN)
    assert model.rest_ms_high is None
    assert model.share_low == 0.0
    assert model.share_high == pytest.approx(5.0 / (5.0 + 0.256))


def test_the_rest_of_a_step_is_divided_among_the_layers_of_its_cells() -> None:
    half = replace(decode(), layers=16)
    assert layers_rest(half, AROUND).low == pytest.approx(rest(half.cell, AROUND).low / 2)


@given(attention=st.floats(1e-3, 1e3), low=st.floats(1e-3, 1e3), more=st.floats(0, 1e3))
def test_a_share_is_a_fraction_in_order(attention: float, low: float, more: float) -> None:
    least, most = share(attention, Span(low, low + more))
    assert 0 < least <= most < 1


@given(batch=st.integers(1, 512), context=st.integers(2, 100_000))
def test_the_low_end_of_the_rest_is_below_the_high_end(batch: int, context: int) -> None:
    for around in (AROUND, replace(AROUND, model=MOE, ranks=Ranks(8))):
        for weighted in (decode(batch=batch, context=16), prefill(new=context)):
            span = rest(weighted.cell, around)
            assert span.high is not None and 0 < span.low < span.high


def as_measured(fused_ms: float, apart_ms: float, cell: Cell) -> Surroundings:
    """With what was measured of the steps of ``cell``."""
    shape = shape_of(MODEL, AROUND.ranks, cell)
    assert shape is not None
    return replace(AROUND, measured=(RestTimes(shape, "graph", (fused_ms,) * 3, (apart_ms,) * 3),))


def test_a_rest_that_was_measured_takes_the_place_of_the_prediction() -> None:
    weighted = decode(batch=64)
    around = as_measured(5.0, 5.4, weighted.cell)
    model = step_model(weighted, 5.0, around)
    assert model.measured and not step_model(weighted, 5.0, AROUND).measured
    assert model.rest_ms_low == pytest.approx(5.0 * (1 - LEVEL))
    assert model.rest_ms_high == pytest.approx(5.4 * (1 + LEVEL) + HOST_GAP_MS["cuda"][1])
    assert model.share_low < 5.0 / (5.0 + 5.4) < 5.0 / (5.0 + 5.0) < model.share_high


def test_steps_of_other_batches_stay_predicted() -> None:
    around = as_measured(5.0, 5.4, decode(batch=64).cell)
    assert rest(decode(batch=32).cell, around) == rest(decode(batch=32).cell, AROUND)
    assert rest(decode(batch=64, context=512).cell, around) == rest(decode(batch=64).cell, around)


def test_what_ranks_send_each_other_is_added_to_what_one_rank_measured() -> None:
    ranks, weighted = Ranks(4), decode(batch=64)
    shape = shape_of(MODEL, ranks, weighted.cell)
    assert shape is not None
    span = rest(weighted.cell, replace(AROUND, ranks=ranks, measured=(RestTimes(shape, "graph", (2.0,), (2.0,)),)))
    assert span.low == pytest.approx(2.0 * (1 - LEVEL) + 2 * MODEL.attention_layers * 0.002)


def test_a_noisy_way_that_looks_faster_than_the_fused_one_turns_nothing_round() -> None:
    span = rest(decode(batch=64).cell, as_measured(5.4, 5.0, decode(batch=64).cell))
    assert span.high is not None and span.low < 5.0 < 5.4 < span.high


def test_the_predicted_rest_holds_what_an_engine_showed() -> None:
    """SGLang's own step less its layers' attention, as docs/data/engine-benchmark.yaml has both; Qwen3-8B, 64 x 2048."""
    figures = yaml.safe_load((ROOT / "docs/data/engine-benchmark.yaml").read_text())
    model = composed("model=qwen3_8b", "gpu=h200").scenario.model
    span = rest(decode(batch=64).cell, Surroundings(model, Ranks(1), "cuda", rates(H200, [])))
    seen = fmean(figures["decode_step_ms"]["fa3"]) - 36 * figures["profiler"]["fa3_attention_us"] / 1000
    assert span.high is not None and span.low < seen < span.high
