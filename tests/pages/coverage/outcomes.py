"""Which features a GPU answered rightly when the tests of tests/backends/sglang/test_features_cuda.py ran there, without a time of any.

pytest -m gpu --noconftest --junitxml=FILE tests/backends/sglang/test_features_cuda.py    # there
python -m tests.pages.coverage.outcomes FILE ...    # adds them to docs/data/features.yaml
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from backends.cell import Phase
from tests.backends.sglang.declared import declared, entries
from tests.backends.sglang.features import FEATURES, LARGE

DATA = Path(__file__).parents[3] / "docs" / "data" / "features.yaml"
HEAD = "# Made by tests/pages/coverage/outcomes.py of tests on an NVIDIA H200, SGLang 0.5.16 and FlashInfer 0.6.14.\n"
RULES = "0.5.16"
LOSSES = ("failure", "error")


@dataclass(frozen=True)
class Case:
    """One test of ``feature`` with ``backend``; ``lost``: what it failed with, None where it passed."""

    backend: str
    feature: str
    lost: str | None


def cases(file: Path) -> Iterator[Case]:
    """Of those that ran."""
    for each in ElementTree.parse(file).iter("testcase"):
        _, _, name = str(each.get("name")).rstrip("]").partition("[")
        backend, _, feature = name.partition("-")
        if feature and each.find("skipped") is None:
            yield Case(backend, feature, next((_reason(found) for word in LOSSES if (found := each.find(word)) is not None), None))


def _reason(found: ElementTree.Element) -> str:
    return str(found.get("message")).strip().splitlines()[0].rpartition("tolerance.")[2][:200]


def told(found: Iterable[Case]) -> dict[str, dict[str, Any]]:
    """By backend and feature: the phases in which all of its tests were right, or what one was lost with. A phase in which a wrong answer
    is put up with tells nothing."""
    by_name: dict[tuple[str, str], list[Case]] = defaultdict(list)
    for case in found:
        by_name[case.backend, case.feature].append(case)
    said: dict[str, dict[str, Any]] = defaultdict(dict)
    for (backend, feature), all_of_it in sorted(by_name.items()):
        lost = next((case.lost for case in all_of_it if case.lost is not None), None)
        said[backend][feature] = _sure_phases(backend, feature) if lost is None else lost
    return dict(said)


def _sure_phases(backend: str, feature: str) -> list[str]:
    """Those that its cells are of; a verify step is the same whichever side's backend serves it."""
    known = next(each for each in FEATURES if each.name == feature)
    one = declared(entries()[backend], known, RULES)
    ran = one.phases if known.drafting else {cell.phase for cell in known.cells(LARGE, "bfloat16", one.phases, 0)}
    return [phase.value for phase in one.phases if phase in ran and phase not in one.doubtful]


@cache
def outcomes() -> Mapping[str, Mapping[str, Any]]:
    return yaml.safe_load(DATA.read_text()) or {} if DATA.is_file() else {}


def outcome(backend: str, features: Iterable[str], phase: Phase) -> str | None:
    """Of the tests of ``features`` there: "right", or what one was lost with; None where none ran."""
    known = outcomes().get(backend, {})
    ran = [known[name] for name in features if name in known]
    if lost := next((found for found in ran if isinstance(found, str)), None):
        return f"lost where its answers were tested: {lost}"
    return "right, not timed" if ran and all(phase.value in found for found in ran) else None


def main(files: Iterable[str]) -> None:
    fresh = told(case for file in files for case in cases(Path(file)))
    merged = {name: {**outcomes().get(name, {}), **fresh.get(name, {})} for name in sorted({*outcomes(), *fresh})}
    DATA.write_text(HEAD + yaml.safe_dump(merged, default_flow_style=None, width=150))


if __name__ == "__main__":
    main(sys.argv[1:])
