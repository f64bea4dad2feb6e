from __future__ import annotations

from dataclasses import replace

import pytest

from backends.serving_jit import Builds, ServingJit
from reports import costs, run_report
from reports.page import Section, Table
from store.decision import Decision, Pair
from store.runs.run import Run
from tests.reports import building
from tests.reports.building import FA3, FLASHINFER, NATIVE
from tests.reports.evidence import strange_numbers

WHOLE = building.run(building.decision())
EARLY = replace(  # as written before these costs were kept
    WHOLE,
    terms=(),
    trials=tuple(
        replace(trial, rms_error=None, workspace_bytes=None, graph_bytes=None, open_s=None, first_call_s=None) for trial in WHOLE.trials
    ),
    rounds=tuple(replace(each, cells=tuple(replace(cell, first_call_s=()) for cell in each.cells)) for each in WHOLE.rounds),
)


def rows(section: Section | None) -> dict[str, tuple[str, ...]]:
    assert section is not None
    (table,) = (part for part in section.body if isinstance(part, Table))
    return {row[0]: row[1:] for row in table.rows}


def of_switch(run: Run = WHOLE) -> dict[str, tuple[str, ...]]:
    return rows(costs.table(run, building.decision()))


def test_memory_start_up_and_errors_stand_beside_the_defaults() -> None:
    found = of_switch()
    assert found["KV tokens"] == ("524290", "524290")
    assert found["workspaces"] == ("17.0 MiB", "392 MiB + 16.0 MiB")  # the decode arm's, and the one kept for prefill
    assert found["opening the backend"] == ("750 ms", "750 ms + 750 ms")
    assert found["largest error, decode"] == ("3.1e-03", "3.1e-03") and found["RMS error, prefill"] == ("1.2e-03", "1.2e-03")


def test_a_phases_costs_are_of_the_arm_that_serves_it() -> None:
    found = of_switch()
    assert found["first decode call, in its probe"] == ("250 ms", "16.2 s")
    assert found["first prefill call, in its probe"] == ("500 ms", "500 ms")  # FlashInfer's 93 s are not paid: fa3 stays there


def test_later_processes_are_read_from_the_race_in_the_median_one() -> None:
    assert of_switch()["first decode call, later processes"] == ("100 ms", "320 ms")
    assert of_switch()["first prefill call, later processes"] == ("not measured", "not measured")


def test_a_page_size_shows_with_what_requests_leave_empty() -> None:
    wide = replace(WHOLE.arms[1], page_size=64)
    terms = replace(WHOLE.terms[1], arm=wide.name, pool_tokens=524288, unused_tokens=31.5)
    run = replace(WHOLE, arms=(WHOLE.arms[0], wide), terms=(WHOLE.terms[0], terms))
    found = {cost.what: cost for cost in costs.between(run, Pair(FA3, FA3), Pair(wide.name, wide.name))}
    assert (found["page size"].default, found["page size"].other) == ("1", "64")
    assert (found["KV tokens"].default, found["KV tokens"].other) == ("524290", "524288")
    assert (found["of them left empty by a request, on average"].other, found["page size"].differs) == ("31.5", True)


def test_a_server_lacks_what_either_of_its_arms_lacks() -> None:
    assert of_switch()["features it lacks"] == ("multi item scoring", "multi item scoring")
    for other, lacks in ((Pair(FA3, NATIVE), "multi item scoring, deterministic"), (Pair(FLASHINFER, FLASHINFER), "none")):
        found = {cost.what: cost.other for cost in costs.between(WHOLE, Pair(FA3, FA3), other)}
        assert found["features it lacks"] == lacks


@pytest.mark.parametrize(
    ("builds", "said"),
    [(Builds.PER_SHAPE, "while serving too"), (Builds.FIRST_USE, "once a machine"), (Builds.NEVER, "never"), (None, "not known")],
)
def test_a_pair_builds_kernels_as_late_as_its_latest_arm(builds: Builds | None, said: str) -> None:
    jit = ServingJit(builds, "why", "source") if builds else None
    run = replace(WHOLE, terms=(WHOLE.terms[0], replace(WHOLE.terms[1], jit=jit)))
    assert of_switch(run)["builds kernels"] == ("never", said)


def test_an_early_run_says_not_measured_and_compares_only_what_it_has() -> None:
    found = of_switch(EARLY)
    assert found["workspaces"] == found["first decode call, in its probe"] == ("not measured", "not measured")
    assert found["KV tokens"] == found["builds kernels"] == ("not known", "not known")
    assert found["largest error, decode"] == ("3.1e-03", "3.1e-03")
    assert costs.line(EARLY, building.decision()) == "nothing else that was measured differs"


def test_a_feature_that_is_lost_stands_first_and_one_that_is_gained_is_left_to_the_table() -> None:
    decision = replace(building.decision(), pick=Pair(NATIVE, NATIVE))
    assert costs.line(WHOLE, decision) == "loses deterministic"
    assert "multi item scoring" not in costs.line(WHOLE, replace(decision, pick=Pair(FLASHINFER, FLASHINFER)))


def test_an_eager_call_has_no_capture() -> None:
    assert rows(costs.arms(WHOLE))["graph capture"] == ("1.25 s", "1.25 s", "not measured")


def test_where_nothing_is_pinned_the_best_rival_stands_beside_the_default() -> None:
    section = costs.table(WHOLE, building.kept())
    assert section is not None and section.title == "What else prefill fa3, decode flashinfer would change"
    said = costs.summary(WHOLE, building.kept())
    assert said.startswith(f"with prefill {FA3}, decode {FLASHINFER} it would be: builds kernels never -> once a machine; workspaces")


def test_where_every_rival_is_barred_the_fastest_stands_there() -> None:
    kept = building.kept()
    barred = replace(kept, scores=tuple(replace(score, barred="may not") if score.pair != kept.default else score for score in kept.scores))
    assert costs.compared(barred) == Pair(FA3, FLASHINFER)


@pytest.mark.parametrize("decision", [replace(building.decision(), default=None), building.incomplete()])
def test_without_a_measured_default_nothing_is_compared(decision: Decision) -> None:
    assert costs.table(WHOLE, decision) is None and costs.line(WHOLE, decision) == ""


def test_every_arm_that_gave_a_time_has_its_column() -> None:
    section = costs.arms(WHOLE)
    found = rows(section)
    assert section is not None and isinstance(section.body[-1], Table) and section.body[-1].header == ("what", FA3, FLASHINFER, NATIVE)
    assert found["first prefill call, in its probe"] == ("500 ms", "93.4 s", "not measured")
    assert found["builds kernels"] == ("never", "once a machine", "not known")
    assert costs.arms(replace(WHOLE, trials=WHOLE.trials[-1:])) is None


@pytest.mark.parametrize("run", [WHOLE, EARLY])
def test_every_number_is_one_of_the_record(run: Run) -> None:
    assert strange_numbers(run_report.render_text(run), run) == set()
