from __future__ import annotations

from dataclasses import replace

import pytest

from backends.outcome import Outcome
from reports import costs, story
from reports.story import ONE_PROCESS, WIDTH, draw
from store.decision import Interval, Pair
from store.runs.run import Run
from tests.reports import building as written
from tests.tuner import building
from tuner.decide import decide
from tuner.demo.replay import decided_after_each

FASTER = {"fa3": (256.0, 131.0), "flashinfer": (300.0, 119.0)}
LEVEL = {"fa3": (256.0, 131.0), "flashinfer": (300.0, 129.0)}


def told(run: Run) -> tuple[str, ...]:
    rival = costs.compared(decide(run))
    assert rival is not None
    return story.rounds(run, decided_after_each(run), rival)


def test_the_first_thing_said_is_that_the_numbers_are_recorded_and_where_and_when() -> None:
    said = story.recorded(building.one_cell_each(FASTER))
    assert said == "Recorded, not measured here: made_up_8b on NVIDIA H200, chat traffic, SGLang 0.5.16, run run1 of 2026-01-02"


def test_a_probe_is_told_with_its_times_on_the_heaviest_cells_and_what_failed() -> None:
    run = written.run()
    native = [trial for trial in run.trials if trial.arm == written.NATIVE]
    assert story.probe(run, written.NATIVE, native) == (
        "probed torch_native: right on 1 of 2 cells; decode_b64_c2048 5124 us, prefill_b1_c4096 crashed"
    )
    assert native[1].outcome is Outcome.CRASHED


def test_the_first_process_tells_nothing_and_the_last_one_pins() -> None:
    lines = told(building.one_cell_each(FASTER))
    assert [line[:12] for line in lines] == ["round 1 of 4", "round 2 of 4", "round 3 of 4", "round 4 of 4"]
    assert lines[0].endswith(ONE_PROCESS) and "|" not in lines[0]
    assert lines[-1].endswith("pin it")


def test_a_rival_that_may_still_win_enough_is_inconclusive_and_one_that_cannot_leaves_the_default() -> None:
    lines = told(building.one_cell_each(LEVEL, process_sd=0.004))
    assert lines[1].endswith(": inconclusive")
    hopeless = told(building.one_cell_each({**LEVEL, "flashinfer": (300.0, 160.0)}))
    assert hopeless[-1].endswith(": the default stays")


@pytest.mark.parametrize(
    ("ratio", "drawn"),
    [
        ((0.95, 1.0, 1.05), "      [----o-----]      "),
        ((0.9, 0.95, 1.1), " [----o----|----------] "),
        ((1.09, 1.0999, 1.1), "           |         [o]"),
    ],
)
def test_an_interval_is_drawn_around_its_estimate_with_a_bar_at_one(ratio: tuple[float, float, float], drawn: str) -> None:
    low, estimate, high = ratio
    assert draw(Interval(estimate, low, high, 0.95, 4), 0.9, 1.1) == drawn
    assert len(drawn) == WIDTH


def test_a_pair_that_was_never_scored_is_one_that_nothing_is_known_of() -> None:
    run = building.one_cell_each(FASTER)
    lines = story.rounds(run, (replace(decide(run), scores=()),), Pair("fa3/p1", "flashinfer/p1"))
    assert lines[0].endswith(ONE_PROCESS)
