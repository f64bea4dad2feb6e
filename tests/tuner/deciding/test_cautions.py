"""What limits the answer is said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.arm import Provider
from backends.environment import Distribution
from backends.measured import CellRound, Trial
from backends.outcome import Outcome
from reports import run_report
from store.boards.calibration import NoiseFloor
from store.decision import Ruling
from store.runs.run import Run
from store.serving.diagnosis import Finding, Severity
from tests.tuner.building import DECODE, PREFILL, Recipe, arm, build, decode, one_cell_each, prefill
from tuner.decide import decide


def test_an_eager_call_that_waits_for_its_host_is_named() -> None:
    run = one_cell_each({"fa3": (100.0, 98.0)})

    def served(trial: Trial) -> Trial:
        assert trial.cost
        return replace(trial, cost=replace(trial.cost, served_us=180.0)) if trial.cell == PREFILL else trial

    said = decide(replace(run, trials=tuple(map(served, run.trials)))).cautions
    assert f"fa3/p1 on {PREFILL} takes 180.0 us with its host work and 100.0 us on the device, which is what was compared" in said


@pytest.mark.parametrize(("ahead", "quiet", "said"), [(True, False, True), (True, True, False), (False, False, False)])
def test_imports_beside_what_was_measured_are_said(ahead: bool, quiet: bool, said: bool) -> None:
    run = one_cell_each({"fa3": (100.0, 98.0)})
    run = replace(run, scenario=replace(run.scenario, measure=replace(run.scenario.measure, import_ahead=ahead)))
    run = replace(run, rounds=tuple(replace(measured, quiet=quiet) for measured in run.rounds))
    assert any("while the next process imported" in caution for caution in decide(run).cautions) is said


def test_an_eager_call_whose_rounds_hold_its_host_needs_no_word_about_it() -> None:
    run = one_cell_each({"fa3": (100.0, 98.0)})
    trials = tuple(replace(trial, cost=replace(trial.cost, served_us=180.0)) if trial.cost else trial for trial in run.trials)

    def served(cell: CellRound) -> CellRound:
        return replace(cell, visits=tuple(replace(visit, served_us=185.0) for visit in cell.visits))

    rounds = tuple(replace(measured, cells=tuple(map(served, measured.cells))) for measured in run.rounds)
    assert not any("host work" in caution for caution in decide(replace(run, trials=trials, rounds=rounds)).cautions)


def test_a_probes_doubts_are_said_of_the_arms_shown_and_voided_blocks_of_all() -> None:
    run = one_cell_each({"fa3": (100.0, 98.0), "triton": (900.0, 130.0)})
    doubted = tuple(
        replace(trial, labels=("rotation not verifiable",)) if trial.outcome is Outcome.MEASURED else trial for trial in run.trials
    )
    hot = replace(run.rounds[0].cells[0], voided=("thermal slowdown by the driver (91 C)",))
    rounds = (replace(run.rounds[0], cells=(hot, *run.rounds[0].cells[1:])), *run.rounds[1:])
    said = decide(replace(run, trials=doubted, rounds=rounds)).cautions
    assert sum("rotation not verifiable" in caution for caution in said) == 1  # of both cells of fa3
    again = "blocks timed again since the device was not at its usual pace: 1; the first: thermal slowdown by the driver (91 C)"
    assert again in said


def test_the_noise_of_a_calibrated_board_is_the_floor_and_is_said() -> None:
    run = one_cell_each({"fa3": (100.0, 98.0), "triton": (101.0, 99.0)})
    floor = NoiseFloor(0.05, "r0", "2026-03-01T12:00:00+00:00")
    plain, calibrated = decide(run), decide(replace(run, noise_floor=floor))
    assert calibrated.cautions[0].startswith("process-to-process noise of 5.0 %, this board's own (calibrated 2026-03-01)")
    assert (calibrated.minimum_detectable_effect or 0) > 5 * (plain.minimum_detectable_effect or 1)


def test_what_was_assumed_comes_first_and_what_others_than_the_answer_do_last() -> None:
    run = one_cell_each({"fa3": (554.0, 98.0), "triton": (900.0, 130.0)}, labels=("power capped",))
    of_answer, of_other, of_run = "fa3 casts the pool (somewhere.py)", "triton pads the queries (elsewhere.py)", "8% of the prompts are cut"
    said = decide(replace(run, notes=(of_other, of_answer, of_run))).cautions
    assert [text.partition(" is predicted")[0].partition(" of this board")[0] for text in said[:2]] == [
        "no calibration",
        "attention's share of a step",
    ]
    assert said[-1] == of_other and said.index("power capped in 4 of 4 processes") < said.index(of_answer) < said.index(of_run)


def test_a_safety_cell_without_the_default_is_named() -> None:
    cells = (decode(), prefill(), decode("largest", batch=256, tokens=0.0, calls=0.0))
    times = {("fa3/p1", PREFILL): 554.0, ("fa3/p1", DECODE): 98.0}
    rival = {("triton/p1", cell): us for cell, us in ((PREFILL, 300.0), (DECODE, 30.0), ("largest", 900.0))}
    failures = {("fa3/p1", "largest"): (Outcome.OUT_OF_MEMORY, "needs 90 GiB")}
    found = decide(build(Recipe((arm("fa3"), arm("triton")), times | rival, cells, failures=failures)))
    assert found.ruling is Ruling.SWITCH
    assert "the default was not measured on largest, so nothing is known of what a pick loses there" in found.cautions


def test_a_kernel_adapter_in_the_answer_is_named() -> None:
    arms = (arm("fa3", provider=Provider.KERNEL),)
    found = decide(build(Recipe(arms, {("fa3/p1@kernel", PREFILL): 554.0, ("fa3/p1@kernel", DECODE): 98.0})))
    assert "fa3/p1@kernel was driven through a kernel adapter, not through the engine's own object" in found.cautions


@pytest.mark.parametrize(("value", "said"), [("1", True), ("True", True), ("0", False), ("", False)])
def test_a_server_that_sizes_its_pool_after_capture_holds_other_numbers_of_tokens(value: str, said: bool) -> None:
    run = one_cell_each({"fa3": (554.0, 98.0)})
    variables = (("SGLANG_ENABLE_POST_CAPTURE_KV_SIZING", value),)
    found = decide(replace(run, environment=replace(run.environment, variables=variables)))
    assert any("other numbers of KV tokens" in caution for caution in found.cautions) is said


def test_an_arm_that_its_probe_kept_out_of_the_race_is_named_with_that_probe() -> None:
    run = one_cell_each({"fa3": (554.0, 98.0), "torch_native": (560.0, 5210.0)}, modes={("torch_native/p1", DECODE): "eager"})
    [sentence] = [said for said in decide(without_visits(run, "torch_native/p1", DECODE)).cautions if "did not race" in said]
    assert sentence == (
        f"torch_native/p1 did not race in decode: it is served in eager mode, fa3/p1 in graph mode (alone on {DECODE}: 5210 us "
        "against 98.00 us), and the two are not ranked against each other"
    )
    assert not any("did not race" in said for said in decide(run).cautions)  # it did, and is barred for its mode instead


def without_visits(run: Run, arm_name: str, cell: str) -> Run:
    """``run`` as if the arm had not raced on the cell."""

    def thinned(measured: CellRound) -> CellRound:
        visits = tuple(visit for visit in measured.visits if visit.arm != arm_name)
        return replace(measured, visits=visits) if measured.cell == cell else measured

    return replace(run, rounds=tuple(replace(each, cells=tuple(map(thinned, each.cells))) for each in run.rounds))


def finding(*concerns: str) -> Finding:
    what = f"{' and '.join(concerns) or 'everything'} is wrong"
    return Finding("made-up", Severity.WARNING, what, "times are of neither", "mend it", concerns=concerns)


@pytest.mark.parametrize(("concerns", "said"), [(("flash-attn",), True), (("flashinfer-python",), False), ((), True)])
def test_what_is_wrong_is_a_caution_where_the_answer_rests_on_it(concerns: tuple[str, ...], said: bool) -> None:
    """The arms of the answer are fa3's, whose import flash-attn brings."""
    run = one_cell_each({"fa3": (554.0, 98.0), "flashinfer": (900.0, 130.0)})
    brought = {"fa3": "flash-attn", "flashinfer": "flashinfer-python"}
    installed = tuple(Distribution(name, "1.0", "sha256:0") for name in brought.values())
    environment = replace(run.environment, distributions=installed, imports=tuple(brought.items()))
    run = replace(run, environment=environment, findings=(finding(*concerns),))
    decision = decide(run)
    assert any("is wrong: times are of neither; mend it" in caution for caution in decision.cautions) is said
    assert "Wrong with the serving environment" in run_report.render_text(replace(run, decision=decision))


def test_a_default_that_is_kept_and_answers_wrongly_on_a_guard_is_said_foremost() -> None:
    cells = (decode(), prefill(), decode("largest", batch=256, tokens=0.0, calls=0.0))
    times = {("fa3/p1", PREFILL): 554.0, ("fa3/p1", DECODE): 98.0}
    failures = {("fa3/p1", "largest"): (Outcome.INCORRECT, "relative error 0.3 is above 0.001")}
    found = decide(build(Recipe((arm("fa3"),), times, cells, failures=failures)))
    assert found.ruling is Ruling.KEEP
    assert found.cautions[0] == "fa3/p1 answers wrongly on largest: relative error 0.3 is above 0.001"
