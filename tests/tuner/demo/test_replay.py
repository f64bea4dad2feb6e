from __future__ import annotations

import io
from dataclasses import replace

import pytest

from store.runs.run import Run
from tests.tuner import building
from tuner.decide import decide
from tuner.demo.recordings import names, recording
from tuner.demo.replay import PLAYED_S, Pace, pace_for, replay
from tuner.progress import Progress


def told(pace: Pace, name: str = "qwen3_8b-h200") -> list[str]:
    return told_of(recording(name), pace)


def told_of(run: Run, pace: Pace) -> list[str]:
    stream = io.StringIO()
    with Progress(stream) as progress:
        replay(run, progress, pace)
    return stream.getvalue().splitlines()


@pytest.mark.parametrize("backwards", [False, True])
def test_probes_come_before_rounds_in_the_order_they_were_measured_in(backwards: bool) -> None:
    run = recording("qwen3_8b-h200")
    run = replace(run, trials=run.trials[::-1]) if backwards else run
    lines = told_of(run, Pace(0.0))
    probed = [line.split()[2].rstrip(":") for line in lines if line.startswith("attnpin: probed ")]
    backends = {arm.name: arm.backend for arm in run.arms}
    assert probed == list(dict.fromkeys(backends[trial.arm] for trial in run.trials)) and len(probed) == len(run.arms)
    assert [line[9:21] for line in lines if line.startswith("attnpin: round ")] == [f"round {n} of 4" for n in (1, 2, 3, 4)]
    assert lines.index(next(line for line in lines if "round 1" in line)) > lines.index(
        next(line for line in lines if "did not race" in line)
    )


@pytest.mark.parametrize("name", names())
def test_waiting_takes_as_long_for_every_recording_and_well_under_a_minute(name: str) -> None:
    slept: list[float] = []
    told(Pace(pace_for(recording(name), waiting=True).per_second, slept.append), name)
    assert sum(slept) == pytest.approx(PLAYED_S)
    assert 2 * PLAYED_S < 60


def test_without_waiting_nothing_sleeps_and_nothing_passing_is_shown() -> None:
    pace = pace_for(recording("qwen3_8b-h200"), waiting=False)
    assert pace.per_second == 0
    assert not [line for line in told(pace) if "probing" in line or "import" in line]


def test_a_run_shorter_than_the_replay_is_not_stretched() -> None:
    assert pace_for(building.one_cell_each({"fa3": (256.0, 131.0)}, processes=1), waiting=True).per_second == 1.0


def test_the_decision_is_that_of_the_whole_run() -> None:
    run = recording("qwen3_235b_a22b-h200")
    with Progress(io.StringIO()) as progress:
        assert replay(run, progress, Pace(0.0)) == decide(run)


def test_a_run_without_a_rival_is_told_without_a_comparison() -> None:
    stream = io.StringIO()
    with Progress(stream) as progress:
        replay(building.one_cell_each({"fa3": (256.0, 131.0)}), progress, Pace(0.0))
    assert stream.getvalue().splitlines() == ["attnpin: probed fa3: right on 2 of 2 cells; decode_b64 131.0 us, prefill_4k 256.0 us"]
