"""Attention milliseconds per 1000 output tokens."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from backends.measured import CellRound, Round, Visit
from store.decision import Pair
from store.scenario import Objective
from tests.tuner.building import DECODE, LAYERS, PREFILL, decode, prefill
from tuner.arithmetic.objective import Exposure, Process, attention_error, attention_ms, cell_error, counted, process_of

PAIR = Pair("fa3/p1", "flashinfer/p1")
PROCESS = Process(
    0,
    {("fa3/p1", PREFILL): math.log(500.0), ("flashinfer/p1", DECODE): math.log(40.0)},
    {("fa3/p1", PREFILL): 320.0, ("flashinfer/p1", DECODE): 64.0},
)
CELLS = (decode(), prefill())


def test_each_phase_counts_its_own_arm_by_steps_and_layers() -> None:
    decode_ms, prefill_ms = 1000 / 64 * LAYERS * 0.040, 0.5 * LAYERS * 0.500
    assert attention_ms(PROCESS, PAIR, CELLS) == pytest.approx(decode_ms + prefill_ms, rel=1e-12)


def test_exposed_metadata_is_added_once_a_step_not_once_a_layer() -> None:
    added = attention_ms(PROCESS, PAIR, CELLS, Exposure.EXPOSED) - attention_ms(PROCESS, PAIR, CELLS)
    assert added == pytest.approx(1000 / 64 * 0.064 + 0.5 * 0.320, rel=1e-9)


def test_a_cell_split_in_two_halves_counts_the_same() -> None:
    whole = decode()
    halves = [replace(whole, calls_per_1000_tokens=whole.calls_per_1000_tokens / 2)] * 2
    assert attention_ms(PROCESS, PAIR, halves) == pytest.approx(attention_ms(PROCESS, PAIR, [whole]), rel=1e-12)


@pytest.mark.parametrize(
    "objective, names",
    [(Objective.THROUGHPUT, {DECODE, PREFILL}), (Objective.TPOT, {DECODE}), (Objective.TTFT, {PREFILL})],
)
def test_an_objective_counts_its_phases(objective: Objective, names: set[str]) -> None:
    assert {weighted.cell.name for weighted in counted(CELLS, objective)} == names


def test_cells_that_traffic_never_visits_do_not_count() -> None:
    assert counted([decode(calls=0.0, tokens=0.0)], Objective.THROUGHPUT) == ()


def test_a_process_is_reduced_to_one_value_an_arm_and_cell() -> None:
    visits = (Visit(0, 0, "fa3/p1", (100.0, 100.0, 900.0)), Visit(0, 1, "triton/p1", (50.0,)), Visit(0, 2, "fa3/p1", (400.0,)))
    metadata = (("fa3/p1", 10.0, 12.0), ("triton/p1", 20.0, 25.0))
    process = process_of(Round(3, 3, (CellRound(DECODE, (), visits, metadata, True),), ()))
    assert process.index == 3
    assert process.ln_us["fa3/p1", DECODE] == pytest.approx(math.log(200.0))
    assert process.ln_us["triton/p1", DECODE] == math.log(50.0)
    assert process.metadata_us == {("fa3/p1", DECODE): 12.0, ("triton/p1", DECODE): 25.0}


def test_an_arm_counts_as_timed_when_every_cell_has_its_time_and_metadata() -> None:
    assert PROCESS.timed("fa3/p1", [prefill()])
    assert not PROCESS.timed("fa3/p1", CELLS)
    assert not replace(PROCESS, metadata_us={}).timed("fa3/p1", [prefill()])


def test_a_process_alone_tells_how_exact_a_ratio_is_by_how_its_blocks_differ() -> None:
    def visits(arm: str, *times: float) -> tuple[Visit, ...]:
        return tuple(Visit(number // 2, 0, arm, (us,)) for number, us in enumerate(times))

    both = visits("fa3/p1", 100.0, 100.0, 200.0, 200.0) + visits("triton/p1", 110.0, 110.0, 200.0, 200.0)
    process = process_of(Round(0, 0, (CellRound(PREFILL, (), both, (("fa3/p1", 1.0, 1.0), ("triton/p1", 1.0, 1.0)), True),), ()))
    error = cell_error(process, "triton/p1", "fa3/p1", PREFILL)
    assert error == pytest.approx(math.log(1.1) / 2)  # half the difference of its two blocks
    assert attention_error(process, Pair("triton/p1", ""), Pair("fa3/p1", ""), [prefill()]) == pytest.approx(error)
    assert cell_error(process, "fa3/p1", "fa3/p1", PREFILL) == 0.0 and cell_error(process, "fa3/p1", "gone", PREFILL) == 0.0


def test_a_call_that_is_launched_eagerly_counts_with_its_host() -> None:
    visits = (Visit(0, 0, "fa3/p1", (100.0, 101.0, 102.0), served_us=160.0), Visit(0, 1, "fa3/p1", (100.0,), served_us=250.0))
    process = process_of(Round(0, 0, (CellRound(PREFILL, (), visits, (), True),), ()))
    assert process.ln_us["fa3/p1", PREFILL] == pytest.approx(math.log(200.0))
