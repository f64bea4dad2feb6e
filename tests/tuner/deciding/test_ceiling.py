"""The most that any kernel could win, and the stop where that is too little."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.cell import attention_flops, kv_bytes
from backends.model import Attention
from backends.outcome import Outcome
from store.decision import Pair, Ruling
from store.runs.run import Run
from tests.tuner.building import DECIDE, DECODE, ENGINE, H200, MODEL, PREFILL, Recipe, arm, build, decode, one_cell_each, prefill
from tuner.budgeting.budget import Budget
from tuner.budgeting.rationing import left_out
from tuner.decide import decide
from tuner.deciding.ceiling import least_us, too_low
from tuner.racing.next_round import next_round

SMALL = (decode("small", batch=1, context=256), prefill("short", new=16, calls=0.5))


def small(default_us: float = 0.7, **changes: object) -> Run:
    """A model whose attention is next to nothing of a step; only the default was probed."""
    times = {("fa3/p1", cell.cell.name): default_us for cell in SMALL}
    return build(Recipe((arm("fa3"), arm("triton")), times, SMALL, processes=0, asked=4, **changes))


def test_where_no_kernel_could_win_enough_the_default_stays_by_its_probe_alone() -> None:
    run = small()
    found = decide(run)
    assert (found.ruling, found.default, found.pick, found.flags) == (Ruling.KEEP, Pair("fa3/p1", "fa3/p1"), Pair("fa3/p1", "fa3/p1"), ())
    assert found.unset_because and found.unset_because.startswith(
        "unset, because even attention at the speed of the memory and the arithmetic would win at most 0."
    )
    assert next_round(run) is None and left_out(run, Budget()) == ()


def test_a_backend_the_user_chose_is_still_pinned() -> None:
    found = decide(small(engine=replace(ENGINE, attention_backend="fa3")))
    assert found.ruling is Ruling.KEEP and dict(found.flags) and set(dict(found.because)) == set(dict(found.flags))


def test_where_a_kernel_could_win_enough_the_race_begins() -> None:
    run = small(default_us=60.0)
    assert too_low(run) is None and next_round(run) is not None
    assert decide(run).ruling is Ruling.INCOMPLETE


def test_with_nothing_required_nothing_is_too_little() -> None:
    assert too_low(small(decide=replace(DECIDE, min_gain=0.0))) is None


@pytest.mark.parametrize("missing", ["small", "short"])
def test_a_default_that_was_not_probed_everywhere_has_no_ceiling(missing: str) -> None:
    run = small()
    assert too_low(replace(run, trials=tuple(trial for trial in run.trials if trial.cell != missing))) is None
    assert too_low(small(failures={("fa3/p1", missing): (Outcome.CRASHED, "signal 11")})) is None


def test_metadata_that_may_keep_the_gpu_waiting_counts_as_what_could_be_won() -> None:
    slow = {("fa3/p1", cell.cell.name): 5000.0 for cell in SMALL}
    assert too_low(small()) is not None and too_low(small(metadata_us=slow)) is None


def test_what_the_host_takes_for_an_eager_call_counts_as_what_could_be_won() -> None:
    run = small()
    launched = [replace(trial, cost=replace(trial.cost, served_us=60.0)) for trial in run.trials]
    assert too_low(run) is not None and too_low(replace(run, trials=tuple(launched))) is None


def test_no_call_takes_less_than_memory_and_arithmetic_allow() -> None:
    run = one_cell_each({"fa3": (500.0, 100.0)})
    cells = {weighted.cell.name: weighted.cell for weighted in run.cells}
    reads, computes = cells[DECODE], cells[PREFILL]
    assert least_us(run.scenario, reads, "bfloat16") == pytest.approx(kv_bytes(reads, 2) / 4.8e12 * 1e6)
    assert least_us(run.scenario, computes, "bfloat16") == pytest.approx(attention_flops(computes) / 989e12 * 1e6)
    assert least_us(run.scenario, computes, "float8_e4m3fn") == pytest.approx(attention_flops(computes) / (2 * 989e12) * 1e6)
    known = replace(run.scenario, gpu=replace(H200, peak_flops_fp8=1979e12))
    assert least_us(known, computes, "float8_e4m3fn") == pytest.approx(attention_flops(computes) / 1979e12 * 1e6)


@pytest.mark.parametrize(
    "unknown",
    [
        {"gpu": replace(H200, bandwidth_bytes_per_s=None)},
        {"gpu": replace(H200, peak_flops=None)},
        {"model": replace(MODEL, attention=Attention.MLA)},
    ],
)
def test_where_nothing_bounds_a_kernel_it_might_take_no_time(unknown: dict[str, object]) -> None:
    run = one_cell_each({"fa3": (500.0, 100.0)}, **unknown)
    assert {least_us(run.scenario, weighted.cell, "bfloat16") for weighted in run.cells} == {0.0}


def test_a_slower_default_has_more_to_win() -> None:
    gains = [found.gain for us in (0.4, 0.5, 0.6) if (found := too_low(small(default_us=us)))]
    assert len(gains) == 3 and gains == sorted(gains) and gains[0] < gains[-1]
