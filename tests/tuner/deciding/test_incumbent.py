"""Which arms the default is, and why it was not measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.arm import Provider
from backends.cell import Phase
from backends.outcome import Outcome
from backends.reason import Reason
from store.decision import Pair
from store.runs.run import Run
from store.scenario import Exclusion
from tests.tuner.building import DECODE, ENGINE, PREFILL, Recipe, arm, build, decode, one_cell_each, prefill
from tuner.deciding.incumbent import chosen, incumbent, unmeasured
from tuner.deciding.pairs import pairs_of
from tuner.deciding.table import table_of

TIMES = {"fa3": (554.0, 98.0), "flashinfer": (722.0, 35.0)}


def reason(run: Run) -> str | None:
    return unmeasured(run, table_of(run))


def test_a_measured_default_has_no_reason() -> None:
    assert reason(one_cell_each(TIMES)) is None


def test_the_engine_s_own_object_is_the_default_before_a_kernel_adapter() -> None:
    arms = (arm("fa3", provider=Provider.KERNEL), arm("fa3", 64), arm("fa3"))
    assert incumbent(build(Recipe(arms, {}))) == Pair("fa3/p1", "fa3/p1")


def test_a_kernel_adapter_is_the_default_where_there_is_no_engine() -> None:
    assert incumbent(build(Recipe((arm("fa3", provider=Provider.KERNEL),), {}))) == Pair("fa3/p1@kernel", "fa3/p1@kernel")


def test_a_default_at_another_page_size_is_not_the_default() -> None:
    times = {("fa3/p64", PREFILL): 554.0, ("fa3/p64", DECODE): 98.0}
    assert reason(build(Recipe((arm("fa3", 64),), times))) == (
        "incomplete: the default (fa3) was not measured: the run had no arm of it at page size 1"
    )


def test_a_default_that_the_user_did_not_select_says_so() -> None:
    run = one_cell_each({"flashinfer": (722.0, 35.0)})
    measure = replace(run.scenario.measure, backends=("flashinfer",))
    run = replace(run, scenario=replace(run.scenario, measure=measure))
    assert reason(run) == "incomplete: the default (fa3) was not measured: measure.backends=[flashinfer] leaves it out"


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.MEASURED])
def test_every_failure_of_the_default_is_a_reason(outcome: Outcome) -> None:
    found = reason(one_cell_each(TIMES, failures={("fa3/p1", PREFILL): (outcome, "what happened")}))
    assert found == f"incomplete: the default (fa3) was not measured: fa3/p1 on {PREFILL}: {outcome.value}: what happened"


def test_a_default_that_was_never_tried_says_so() -> None:
    run = one_cell_each(TIMES)
    run = replace(run, trials=tuple(trial for trial in run.trials if (trial.arm, trial.cell) != ("fa3/p1", DECODE)))
    assert reason(run) == f"incomplete: the default (fa3) was not measured: fa3/p1 was not tried on {DECODE}"


def test_each_phase_s_default_must_be_measured() -> None:
    run = one_cell_each(TIMES, default=("flashinfer", "triton"))
    assert reason(run) == "incomplete: the default (triton) was not measured: the run had no arm of it at page size 1"


def test_a_cell_that_traffic_never_visits_leaves_the_default_measured() -> None:
    cells = (decode(), prefill(), decode("largest", batch=256, tokens=0.0, calls=0.0))
    times = {("fa3/p1", PREFILL): 554.0, ("fa3/p1", DECODE): 98.0}
    failures = {("fa3/p1", "largest"): (Outcome.OUT_OF_MEMORY, "needs 90 GiB")}
    assert reason(build(Recipe((arm("fa3"),), times, cells, failures=failures))) is None


def test_a_split_choice_stands_before_the_common_one() -> None:
    engine = replace(ENGINE, attention_backend="fa3", decode_attention_backend="triton")
    assert chosen(engine, Phase.DECODE) == "engine.decode_attention_backend=triton"
    assert chosen(engine, Phase.PREFILL) == "engine.attention_backend=fa3"
    assert chosen(ENGINE, Phase.DECODE) is None


BARRED = Exclusion("fa3", "prefill", (Reason("sm", "sm90", "sm100", "take another backend", "made up"),))


def test_a_default_that_is_barred_from_its_phase_has_that_reason() -> None:
    run = one_cell_each(TIMES, exclusions=(BARRED,))
    assert reason(run) == "incomplete: the default (fa3) was not measured: sm90 was asked, sm100 is allowed (made up); take another backend"


def test_a_backend_barred_from_a_phase_serves_the_other_alone_however_fast_it_was() -> None:
    run = one_cell_each({"fa3": (1.0, 98.0), "flashinfer": (722.0, 100.0)}, exclusions=(BARRED,))
    assert set(pairs_of(table_of(run))) == {Pair("flashinfer/p1", "fa3/p1"), Pair("flashinfer/p1", "flashinfer/p1")}
