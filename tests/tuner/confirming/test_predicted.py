"""What a pin says of a server's ITL, from the times of its own run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.cell import Cell
from store.decision import CellResult
from store.runs.run import Run
from store.scenario import WeightedCell
from store.serving.serving_run import Predicted, ServingRun
from tests.reports import building
from tests.reports.test_serving_run import OTHER, RUN, START
from tests.tuner.building import decode
from tuner.confirming.predicted import predicted

FA3, FLASHINFER = building.FA3, building.FLASHINFER
US_A_TOKEN = {FA3: 1e-3, FLASHINFER: 1.5e-3}


def batch(requests: int, context: int = 1000) -> WeightedCell:
    return decode(f"decode-{requests}", requests, context)


def run(*cells: WeightedCell, arms: tuple[str, ...] = (FA3, FLASHINFER)) -> Run:
    """One whose calls take a time that goes with the keys they read."""
    results = tuple(CellResult(arm, each.cell.name, "graph", call_us(arm, each.cell), None) for arm in arms for each in cells)
    made = replace(building.kept(), cells=results)
    return replace(building.run(made), cells=cells)


def call_us(arm: str, cell: Cell) -> float:
    return US_A_TOKEN[arm] * sum(cell.context_lens)


def served(*concurrency: int, prompt: int = 900, output: int = 200) -> ServingRun:
    """fa3 as it is pinned, against flashinfer."""
    against = replace(OTHER, serves=(("prefill", "flashinfer"), ("decode", "flashinfer"), ("page size", "1"), ("KV dtype", "bfloat16")))
    sent = replace(RUN.sent, concurrency=concurrency, prompt_tokens=prompt, output_tokens=output)
    return replace(RUN, sent=sent, starts=(START, against), against=("--attention-backend", "flashinfer"))


def test_a_batch_that_was_measured_is_its_own_prediction() -> None:
    (found,) = predicted(run(batch(16), batch(64)), served(64))
    cell = batch(64)
    assert found.cells == ("decode-64",) and found.pin_ms == pytest.approx(cell.layers * call_us(FA3, cell.cell) / 1000)
    assert found.change_ms is not None and found.change_ms < 0


def test_another_batch_is_interpolated_between_those_that_were_measured() -> None:
    (found,) = predicted(run(batch(16), batch(64)), served(32))
    at = batch(32)
    assert found.cells == ("decode-16", "decode-64") and found.against_ms == pytest.approx(at.layers * call_us(FLASHINFER, at.cell) / 1000)


def test_nothing_is_foretold_beyond_a_factor_of_two() -> None:
    reaches, beyond = predicted(run(batch(16), batch(64)), served(128, 129))
    assert reaches.change_ms is not None and beyond.change_ms is None
    assert "of 1000 tokens lie beyond a factor of 2" in beyond.missing and beyond.missing.endswith("(16 of 1000, 64 of 1000)")
    (long,) = predicted(run(batch(16), batch(64)), served(64, prompt=2000))
    assert long.change_ms is None


def test_a_guard_far_from_the_traffic_has_no_say() -> None:
    guard = replace(batch(1, 40_000), calls_per_1000_tokens=0.0, token_share=0.0)
    assert guard.is_guard and predicted(run(batch(16), guard), served(1))[0].change_ms is None


def test_layer_kinds_add_up_and_one_without_times_leaves_nothing() -> None:
    windowed = replace(batch(64).cell.layer, name="sliding", sliding_window=128)
    full, sliding = batch(64), replace(batch(64), cell=replace(batch(64).cell, name="decode-64-sliding", layer=windowed), layers=4)
    (found,) = predicted(run(full, sliding), served(64))
    assert found.pin_ms == pytest.approx(sum(each.layers * call_us(FA3, each.cell) for each in (full, sliding)) / 1000)
    half = run(full, sliding)
    assert half.decision is not None
    fewer = replace(half.decision, cells=tuple(each for each in half.decision.cells if (each.arm, each.cell) != (FA3, sliding.cell.name)))
    (nothing,) = predicted(replace(half, decision=fewer), served(64))
    assert nothing.missing == "the pin's run did not time both on one decode step"


@pytest.mark.parametrize("against", [("--attention-backend", "flashinfer", "--flashinfer-workspace", "1"), ()])
def test_a_side_that_does_more_than_name_a_backend_was_not_timed(against: tuple[str, ...]) -> None:
    (found,) = predicted(run(batch(64)), replace(served(64), against=against))
    assert bool(found.missing) is bool(against)


def test_a_side_that_was_not_raced_is_named() -> None:
    (found,) = predicted(run(batch(64), arms=(FA3,)), served(64))
    assert found.missing == "the pin's run did not time flashinfer as it is served without the pin"
    elsewhere = replace(OTHER, serves=(*OTHER.serves[:1], ("decode", "flashinfer"), ("page size", "64")))
    (found,) = predicted(run(batch(64)), replace(served(64), starts=(START, elsewhere)))
    assert "did not time flashinfer" in found.missing


def test_a_prediction_has_both_times_or_a_reason() -> None:
    with pytest.raises(ValueError, match="both sides' times, or says why"):
        Predicted(64, 1.0, None)
    with pytest.raises(ValueError, match="both sides' times, or says why"):
        Predicted(64, None, None)
