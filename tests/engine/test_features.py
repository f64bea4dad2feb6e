"""Every feature that triton and torch_native declare, on SGLang's own objects on a CPU (drive_features.py)."""

from __future__ import annotations

from typing import Any

import pytest

from backends.cell import Cell
from tests.backends.sglang.conftest import driven_by
from tests.backends.sglang.declared import Declared, declared, entries
from tests.backends.sglang.drive_features import BACKENDS, runs_here
from tests.backends.sglang.features import FEATURES, SMALL

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]


@pytest.fixture(scope="module", params=["0.5.22", "0.5.16"])
def featured(request: pytest.FixtureRequest) -> dict[str, Any]:
    return driven_by("drive_features.py", request.param)


def of_version(version: str) -> list[tuple[Declared, Cell]]:
    each = [declared(entries()[name], feature, version) for name in BACKENDS for feature in FEATURES]
    return [(one, cell) for one in each if runs_here(one) for cell in one.feature.cells(SMALL, "float16", one.phases, 0)]


def test_a_backend_answers_right_on_each_feature_that_it_declares(featured: dict[str, Any]) -> None:
    """Where a note says that answers may be wrong, the check says so of those that are."""
    for one, cell in of_version(featured["version"]):
        found = featured["cases"][f"{one}, {cell.name}"]
        may_be_wrong = cell.phase in one.doubtful and found.get("raised") == "Incorrect"
        assert "result" in found or may_be_wrong, (str(one), cell.name, found)


def test_all_that_is_declared_was_driven_and_nothing_else(featured: dict[str, Any]) -> None:
    assert {f"{one}, {cell.name}" for one, cell in of_version(featured["version"])} == featured["cases"].keys()
