"""V1 to V11 on fewer runs than `make bench-statistics` takes: no claim may be refuted by what is seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.bench.statistics import racing, recorded, stored, versions
from tests.bench.statistics.page import read_rows
from tests.bench.statistics.row import Row
from tests.bench.statistics.versions import at_the_margin, changed
from tuner.verdicts.rule import rule_for

CHANCE = 1e-4  # of calling a true claim refuted; seeds are fixed, so that it is taken once


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(lambda: versions.claims(rng(1), 400), id="versions"),
        pytest.param(lambda: racing.claims(rng(2), 25), id="arms"),
        pytest.param(lambda: stored.claims(rng(3), 200), id="stored times"),
        pytest.param(lambda: recorded.claims(rng(4), 150), id="recorded rounds"),
    ],
)
def test_no_claim_is_refuted(rows: object) -> None:
    assert callable(rows)
    found = list(rows())
    assert found and [row for row in found if row.refuted(CHANCE)] == []


def test_every_claim_is_looked_at() -> None:
    assert {row.claim for row in read_rows()} == {f"V{number}" for number in range(1, 12)}
    assert all(row.holds and row.of >= 4000 for row in read_rows())


def test_a_rule_that_spends_too_much_is_refuted() -> None:
    greedy = replace(rule_for("gate"), alpha=0.2)
    assert any(row.refuted(CHANCE) for row in at_the_margin(rng(5), 400, "greedy", greedy) if row.claim == "V2")


def test_a_rule_that_sees_too_little_is_refuted() -> None:
    blind = replace(rule_for("gate"), looks=(4,), first_change=4)
    assert any(row.refuted(CHANCE) for row in changed(rng(6), 400, "blind", blind) if row.claim == "V3")


@pytest.mark.parametrize(
    ("seen", "of", "low", "high", "holds", "refuted"),
    [(0, 100, 0, 0.01, True, False), (20, 100, 0, 0.01, False, True), (2, 100, 0, 0.01, False, False), (90, 100, 0.99, 1, False, True)],
)
def test_a_claim_is_refuted_only_by_what_chance_does_not_explain(
    seen: int, of: int, low: float, high: float, holds: bool, refuted: bool
) -> None:
    row = Row("V1", "what", "case", low, high, seen, of)
    assert (row.holds, row.refuted(CHANCE)) == (holds, refuted)


def test_the_bounds_of_a_rate_hold_it() -> None:
    assert Row("V1", "", "", 0, 1, 0, 300).bounds()[1] == pytest.approx(1 - 0.05 ** (1 / 300))  # about 3 / n
    assert Row("V1", "", "", 0, 1, 300, 300).bounds() == (pytest.approx(0.05 ** (1 / 300)), 1.0)
