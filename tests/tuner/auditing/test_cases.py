"""Public reports as figures for an audit: tests/cases/audit.yaml says what each key means."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reports import audit
from reports.plan import render_text
from store.decision import Pair
from store.verdicts.verdict import Status
from tests.cases.reading import read_cases
from tests.tuner.building import H200, one_cell_each
from tuner.auditing.obstacles import obstacle
from tuner.auditing.plan import narrowed
from tuner.auditing.recorded import audit_of_figures
from tuner.auditing.steps import recorded
from tuner.check import verdict
from tuner.decide import decide
from tuner.pin import pin_of
from tuner.plan import make_plan
from tuner.settings import compose

CASES = tuple(read_cases("audit").values())
REPORTED = [case for case in CASES if "figures" in case]
PLANNED = [case for case in CASES if "plan" in case]
FEW = "backend=[fa3,flashinfer,triton]"  # those that the reports compare


@pytest.mark.parametrize("case", REPORTED, ids=lambda case: case["id"])
def test_reported_figures_get_their_verdicts(case: Mapping[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "figures.yaml"
    asked = {**case["figures"], "scenario": [FEW, *case["figures"]["scenario"]]}
    file.write_text(json.dumps(asked))  # JSON is YAML too
    found = audit_of_figures(file, case.get("overrides", ()), None)
    assert [(reason.rule, reason.verdict.value) for reason in found.reasons] == [("default.mha.hopper", case["reason"])]
    assert (found.default.verdict.value, found.exit_code) == (case["default"], case["exit"])
    assert found.default.use == (Pair(**case["use"]) if "use" in case else None)
    assert "flags" not in case or dict(found.default.flags) == case["flags"]
    text = audit.render_text(found)
    assert [word for word in case["says"] if word not in text] == []


@pytest.mark.parametrize("case", PLANNED, ids=lambda case: case["id"])
def test_a_plan_holds_the_recorded_reason_against_what_is_installed_and_an_audit_can_measure_it(case: Mapping[str, Any]) -> None:
    settings = compose([FEW, *case["scenario"]])
    plan = make_plan(settings, {"sglang": "0.5.22", "torch": "2.11.0", "triton": "3.6.0", "sgl_kernel": "0.4.5", **case["packages"]})
    line = next(line for line in render_text(plan).splitlines() if line.strip().startswith("recorded reason"))
    assert [word for word in case["plan"] if word not in line] == []
    ((_, here),) = recorded(plan.path)
    asked = make_plan(narrowed(settings, recorded(plan.path)))
    assert {"fa3", "flashinfer"} == {arm.backend for arm in asked.arms} and obstacle(asked, here.reason.test) is None


def test_a_pin_made_on_an_h20_is_not_reused_on_an_h200() -> None:
    """d07-2: equal compute capability is no equal balance of bandwidth and arithmetic."""
    run = one_cell_each({"fa3": (554.0, 98.0), "flashinfer": (722.0, 35.0)}, gpu=compose([FEW, "gpu=h20"]).scenario.gpu)
    pin = pin_of(run, decide(run), ("pin.evidence.jsonl.zst", "00"))
    here = one_cell_each({"fa3": (1.0, 1.0)}, gpu=H200).environment
    found = verdict(pin, run, here)
    assert (found.status, found.exit_code) == (Status.INCOMPARABLE, 3) and "measure with attnpin tune" in found.sentence


def test_each_report_is_there() -> None:
    assert {case["id"].split("/")[0] for case in CASES} == {"d07-1", "d07-2", "d07-3", "d07-4", "d08"}
