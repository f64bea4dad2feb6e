"""What a comparison comes to in words, from rounds whose truth is known."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from backends.outcome import Outcome
from reports.side_by_side import headline, render_json, render_markdown, render_text
from store.boards.calibration import NoiseFloor
from store.comparisons.side_by_side import SideBySide
from store.verdicts.comparison import Label
from store.verdicts.version_verdict import Broken, VersionVerdict
from tests.store.building import a_run, environment
from tests.tuner.comparing.made import compared
from tuner.comparing.judge import judge, rule_of
from tuner.unmeasured.regressions import Regression
from tuner.verdicts.rule import rule_for

RUN = a_run(arms=2, cells=3)
FA3, FLASHINFER = (arm.name for arm in RUN.arms)
CELLS = [weighted.cell.name for weighted in RUN.cells]
ENTRY = Regression(
    *("slow", "flashinfer-python", ">=0.7", "0.8.0", "sglang", "decodes slowly", "it splits nothing", ("take flashinfer-python>=0.8.0",)),
    sources=("https://example.org/1",),
    backends=("flashinfer",),
)


def upgraded(*factors: float, known: tuple[Regression, ...] = ()) -> tuple[SideBySide, VersionVerdict]:
    """FlashInfer's time in the candidate, by cell, over that in the baseline; FA3 is untouched."""

    def times(side: int, arm: str, cell: str, block: int, place: int) -> float:
        return math.log(100) + (side * math.log(factors[CELLS.index(cell)]) if arm == FLASHINFER else 0.0)

    measured = compared(RUN, 9, times)
    measured = replace(measured, candidate=replace(measured.candidate, environment=environment("0.7.1")))
    return measured, judge(measured, rule_for("gate"), known)


@pytest.mark.parametrize(
    ("factors", "said"),
    [
        ((3.0, 9.2, 24.1), f"takes 3.0 to 24 times as long on 3 cells, most on {CELLS[2]} ("),
        ((1.0, 3.0, 1.0), f"takes 3.0 times as long on {CELLS[1]} ("),
        ((1.15, 1.25, 1.0), f"15 % to 25 % slower on 2 cells, most on {CELLS[1]} ("),
        ((1.15, 1.0, 1.0), f"15 % slower on {CELLS[0]} ("),
        ((0.5, 0.25, 0.2), f"is 2.0 to 5.0 times as fast on 3 cells, most on {CELLS[2]} ("),
        ((0.9, 0.9, 0.9), "10 % faster on 3 cells, most on "),
    ],
)
def test_the_headline_says_how_much_on_how_many_cells_and_where_most(factors: tuple[float, ...], said: str) -> None:
    line = headline(*upgraded(*factors))
    assert said in line and line.startswith(f"{'regressed' if max(factors) > 1 else 'improved'}: {FLASHINFER} "), line


def test_of_arms_that_changed_alike_the_headline_names_the_one_that_is_served_and_counts_the_others() -> None:
    def times(side: int, arm: str, cell: str, block: int, place: int) -> float:
        return math.log(100) + side * math.log(3.0005 if arm == FLASHINFER else 3.0)

    measured = compared(RUN, 9, times)
    moved = tuple(replace(each, version="9") for each in RUN.environment.distributions)
    upgraded = replace(RUN.environment, distributions=moved, imports=(*RUN.environment.imports, ("torch", "torch")))  # under all of them
    measured = replace(measured, candidate=replace(measured.candidate, environment=upgraded))
    said = headline(measured, judge(measured, rule_for("gate")))
    assert said.startswith(f"regressed: {FA3} takes 3.0 times as long on 3 cells") and said.endswith("comparisons regressed, in 2 arms")
    turned = replace(measured, baseline=replace(measured.baseline, arms=measured.baseline.arms[::-1]))
    assert headline(turned, judge(turned, rule_for("gate"))).startswith(f"regressed: {FLASHINFER} takes 3.0 times as long")


def test_the_headline_of_an_equivalence_names_the_margin_and_never_says_that_nothing_regressed() -> None:
    text = render_text(*upgraded(1.0, 1.0, 1.0))
    assert text.startswith("equivalent: in none of 4 comparisons did a time change by 2.0 %\n")
    (scope,) = (line for line in text.splitlines() if line.startswith("  holds for  "))
    assert all(f"{cell} (64 x 1" in scope for cell in CELLS) and "32/8 heads of 128, KV cache bfloat16" in scope
    assert scope.endswith(": nothing is said of other shapes, batches and contexts")
    assert "no regression" not in text and "Ways out" not in text


def test_an_arm_that_does_not_run_any_more_leads() -> None:
    measured, verdict = upgraded(1.0, 1.0, 1.0)
    broken = replace(verdict, label=Label.REGRESSED, broken=(Broken(FLASHINFER, CELLS[0], Outcome.CRASHED, "signal 11"),))
    assert headline(measured, broken) == (
        f"regressed: {FLASHINFER} on {CELLS[0]} was measured in the baseline and crashes in the candidate: signal 11"
    )
    assert "hold the baseline, in a constraints file for pip or uv: flashinfer-python==0.6.14" in render_text(measured, broken)


def test_what_is_known_of_the_candidate_is_said_where_it_regressed_with_ways_out() -> None:
    text = render_text(*upgraded(3.0, 1.0, 1.0, known=(ENTRY,)))
    lines = [line.strip() for line in text.split("Ways out\n")[1].split("\n\n")[0].splitlines()]
    assert lines == [
        "known issue: flashinfer-python 0.7.1 decodes slowly (under sglang; the first good release is 0.8.0): it splits nothing",
        "way out: take flashinfer-python>=0.8.0",
        "way out: hold the baseline, in a constraints file for pip or uv: flashinfer-python==0.6.14",
        "source: https://example.org/1",
    ]
    assert "Ways out" not in render_text(*upgraded(1.0, 1.0, 1.0, known=(ENTRY,)))


def test_markdown_and_json_hold_the_same_verdict() -> None:
    measured, verdict = upgraded(3.0, 1.0, 1.0, known=(ENTRY,))
    markdown = render_markdown(measured, verdict)
    assert markdown.startswith(f"**regressed: {FLASHINFER} takes 3.0 times as long on {CELLS[0]}") and len(markdown) < 60_000
    assert '"label": "regressed"' in render_json(measured, verdict) and '"issues": [{"name": "slow"' in render_json(measured, verdict)


def test_a_calibration_that_the_comparison_began_with_rules_its_verdict() -> None:
    measured, _ = upgraded(1.0, 1.0, 1.0)
    profile = measured.baseline.scenario.measure.profile
    assert rule_of(measured) == rule_for(profile)
    calm = NoiseFloor(0.002, "r0", "2026-01-01T00:00:00+00:00", two_mode=False)
    assert rule_of(replace(measured, baseline=replace(measured.baseline, noise_floor=calm))) == rule_for(profile, 0.002, False)
