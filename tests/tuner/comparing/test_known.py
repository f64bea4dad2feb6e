"""Recorded faults and comparisons that do or do not show them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.reports.test_side_by_side import ENTRY, upgraded
from tuner.unmeasured.regressions import Regression


def known_of(entry: Regression, *factors: float) -> list[str]:
    return [issue.name for issue in upgraded(*factors, known=(entry,))[1].issues]


def test_a_range_that_the_candidate_entered_is_named_where_an_arm_on_its_path_regressed() -> None:
    assert known_of(ENTRY, 3.0, 1.0, 1.0) == ["slow"]
    assert known_of(replace(ENTRY, engine_versions="<0.0.1"), 3.0, 1.0, 1.0) == ["slow"]  # measured, whoever calls it so


@pytest.mark.parametrize(
    "other",
    [
        {"versions": ">=0.6"},  # the baseline had it too
        {"versions": ">=0.8"},
        {"backends": ("fa3",)},
        {"engine": "vllm"},
        {"sm": (80,)},
        {"kv_dtypes": ("float8_e4m3fn",)},
        {"distribution": "triton"},
    ],
    ids=str,
)
def test_elsewhere_it_explains_nothing(other: dict[str, object]) -> None:
    assert known_of(replace(ENTRY, **other), 3.0, 1.0, 1.0) == []  # type: ignore[arg-type]


def test_what_did_not_regress_has_no_known_issue() -> None:
    assert known_of(ENTRY, 1.0, 1.0, 1.0) == known_of(ENTRY, 0.5, 1.0, 1.0) == []


def test_a_fault_of_one_phase_is_none_of_the_other() -> None:
    measured, _ = upgraded(3.0, 1.0, 1.0)
    assert {weighted.cell.phase.value for weighted in measured.baseline.cells} == {"decode"}
    assert known_of(replace(ENTRY, phases=("decode",)), 3.0, 1.0, 1.0) == ["slow"]
    assert known_of(replace(ENTRY, phases=("prefill",)), 3.0, 1.0, 1.0) == []
