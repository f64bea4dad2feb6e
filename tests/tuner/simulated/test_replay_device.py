"""A recorded run as a device: its own rounds come back and lead to the decision they led to; what it lacks cannot be asked."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import median

import pytest

from backends import rounds
from backends.cell import Phase
from backends.measured import Round
from backends.simulated.world import Pace, World
from backends.spec import StageSpec
from store.runs.run import Run
from tests.backends.simulated.worlds import TIMING
from tests.backends.small import silent
from tests.tuner.simulated.telling import pin_in, tuned
from tuner.decide import decide
from tuner.past.recorded_times import processes_of, recorded_run, refuse_unrecorded
from tuner.plan import make_plan
from tuner.settings import compose

RECORDING = "qwen3_8b-h200"


@cache
def recorded() -> Run:
    return recorded_run(RECORDING)


@cache
def world() -> World:
    made = compose(["gpu=replay", f"gpu.simulated.recording={RECORDING}", "backend=[fa3]"]).world
    assert made is not None
    return made


def replayed(*paces: Pace) -> Run:
    """As many rounds as were recorded, drawn from them, each arm on the cells it was raced on."""
    run = recorded()
    cells = [weighted.cell for weighted in run.cells]
    raced = {(visit.arm, cell.cell) for cell in run.rounds[0].cells for visit in cell.visits}
    arms = [arm for arm in run.arms if any(name == arm.name for name, _ in raced)]
    skip = {(arm.name, cell.name) for arm in arms for cell in cells} - raced
    spec = StageSpec("cuda", run.scenario.model, 1, run.scenario.model.context_length, 8192, None, 0.6, 256, replace(world(), paces=paces))
    timing = replace(TIMING, warmup_s=0.0, warmup_cap_s=0.1)
    drawn = [list(rounds.run(seed, seed, arms, cells, spec, timing, silent, skip))[-1] for seed in range(len(run.rounds))]
    return replace(run, rounds=tuple(each for each in drawn if isinstance(each, Round)), decision=None)


def times_us(run: Run, arm: str, cell: str) -> list[float]:
    """The median visit of each round."""
    return [
        median(median(visit.sample_us) for visit in each.visits if visit.arm == arm)
        for measured in run.rounds
        for each in measured.cells
        if each.cell == cell
    ]


def test_drawn_rounds_lead_to_the_decision_of_the_recorded_ones() -> None:
    before, after = decide(recorded()), decide(replayed())
    assert (after.ruling, after.pick) == (before.ruling, before.pick)
    objectives = {score.pair: score.objective_ms for score in before.scores}
    assert {score.pair: pytest.approx(score.objective_ms, rel=0.01) for score in after.scores} == objectives


def test_an_injected_slowdown_is_found_in_its_size_in_its_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backends.cell_round.warm_up", lambda *given: True)  # a slower arm is visited less often in it: other draws follow
    slowed, plain = replayed(Pace("fa3", 1.05, Phase.DECODE)), replayed()
    for weighted in recorded().cells:
        factor = 1.05 if weighted.cell.phase is Phase.DECODE else 1.0
        for one, other in zip(times_us(slowed, "fa3/p1", weighted.cell.name), times_us(plain, "fa3/p1", weighted.cell.name)):
            assert one == pytest.approx(factor * other, rel=1e-9)


def test_every_recorded_process_holds_all_that_was_measured() -> None:
    run = recorded()
    measured = {(trial.arm, trial.cell) for trial in run.trials if trial.cost}
    processes = processes_of(run)
    assert len(processes) == len(run.rounds)
    assert all({(each.arm, each.cell) for each in process} == measured for process in processes)


def test_packages_are_those_of_the_recording() -> None:
    versions = {each.distribution: each.version for each in world().packages}
    assert versions == {each.name: each.version for each in recorded().environment.distributions}


def test_a_simulated_run_can_be_replayed_and_another_question_cannot_be_put_to_it(tmp_path: Path) -> None:
    made = tuned(tmp_path / "made", "measure.processes=1")
    assert made.code == 0
    recording = ("gpu=replay", f"gpu.simulated.recording={pin_in(tmp_path / 'made')}", "measure.processes=1")
    again, other = tuned(tmp_path / "again", *recording), tuned(tmp_path / "other", *recording, "traffic=chat")
    assert again.code == 0 and again.pin.valid_for.gpu == "simulated H200 (recorded times)"
    for weighted in made.run.cells:
        (before,), (after,) = (times_us(run, "fa3/p1", weighted.cell.name) for run in (made.run, again.run))
        assert after == pytest.approx(before, rel=0.02)
    assert other.code == 2 and "recorded processes hold a time of fa3/p1 on this plan's decode-16" in other.err


def test_a_plan_has_the_pool_and_the_guards_of_the_recorded_server_whatever_a_rule_would_make_of_them() -> None:
    asked = ("gpu=replay", f"gpu.simulated.recording={RECORDING}", "model=qwen3_8b", "measure.backends=[fa3,flashinfer]")
    settings = compose(asked)
    assert settings.world is not None
    for plan in (make_plan(settings), make_plan(compose((*asked, "engine.mem_fraction_static=0.7")))):
        refuse_unrecorded(settings.world, plan)
        assert plan.cells == recorded().cells
        assert {plan.server.pool_tokens} == {terms.pool_tokens for terms in recorded().terms}


def test_a_recording_says_nothing_of_the_pool_of_another_model() -> None:
    other, plain = (make_plan(compose((f"gpu={gpu}", "model=llama3_1_8b"))) for gpu in ("replay", "simulated"))
    assert other.server.pool_tokens == plain.server.pool_tokens
