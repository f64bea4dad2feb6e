"""Every public report of measuring.yaml and graphs.yaml has its test; what waits for a later command is skipped and says for which."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cases.reading import read_cases

TESTS = Path(__file__).parents[1]
READERS = {
    "measuring": (
        *("tuner/verdicts/test_cases.py", "backends/simulated/test_measuring_cases.py"),
        "tuner/test_measuring_cases.py",
    ),
    "graphs": ("backends/simulated/test_graph_cases.py", "tuner/test_graph_cases.py"),
}
COUNTS = {"measuring": 24, "graphs": 10}  # reports in the published lists that these were made from
CASES = {name: read_cases(name) for name in READERS}
WAITING = [case for cases in CASES.values() for case in cases.values() if "waits" in case]


@pytest.mark.parametrize("name", READERS)
def test_every_case_has_its_test(name: str) -> None:
    source = "".join((TESTS / reader).read_text() for reader in READERS[name])
    named = set(re.findall(r'"([ce]\d\d(?:-\d)?)"', source))
    assert named == set(CASES[name]) and len(named) == COUNTS[name]


@pytest.mark.parametrize("name", READERS)
def test_every_case_says_what_it_is_about(name: str) -> None:
    for case in CASES[name].values():
        assert case["about"] and case["kind"] and case["source"] and case["expect"], case["id"]


@pytest.mark.parametrize("case", WAITING, ids=lambda case: case["id"])
def test_what_belongs_to_a_later_command_waits_for_it(case: Mapping[str, Any]) -> None:
    pytest.skip(f"{case['waits']['what']}: waits for {case['waits']['for']!r}")
