"""Every public report in tests/cases/measuring.yaml that the statistics have an answer to."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from backends.blocks import palindromes
from store.decision import Ruling
from store.digest import run_digest
from store.runs.run import Run
from store.verdicts.comparison import CellVerdict, Label
from tests.cases.reading import read_cases
from tests.tuner.building import DECODE, LAYER, MODEL, PREFILL, one_cell_each
from tuner.arithmetic.statistics import process_mean
from tuner.decide import decide
from tuner.verdicts import correction
from tuner.verdicts.inference import Array
from tuner.verdicts.rule import rule_for
from tuner.verdicts.session import assumed
from tuner.verdicts.side_by_side import undecided, verdicts
from tuner.verdicts.stored import Sitting, same_board, screen

CASES = read_cases("measuring")
RULE = rule_for("gate")


def rounds(given: Mapping[str, Any]) -> Array:
    """Drawn around the change; with the spread that was reported as that of one round."""
    rng = np.random.default_rng(1)
    return rng.normal(math.log1p(given["change_pct"] / 100), given["spread_pct"] / 100, (given["rounds"], 1))


def judged(d: Array) -> CellVerdict:
    (found,) = verdicts(d, ["cell"], RULE)
    return found


def test_one_call_each_is_no_comparison_however_far_apart_they_are() -> None:
    case = CASES["e01-1"]
    with pytest.raises(ValueError, match="two rounds at least"):
        judged(rounds(case["given"]))
    assert case["expect"]["verdict"] == "none"


@pytest.mark.parametrize("name", ["e01-2", "e14-1"])
def test_a_difference_is_judged_by_its_spread(name: str) -> None:
    assert judged(rounds(CASES[name]["given"])).label is Label(CASES[name]["expect"]["verdict"])


def test_after_one_round_there_is_no_verdict_and_more_are_asked_for() -> None:
    case = CASES["e14-2"]
    d = rounds(case["given"])
    assert undecided(d, RULE).all() == case["expect"]["more"]
    with pytest.raises(ValueError, match="two rounds"):
        judged(d)
    assert judged(rounds({**case["given"], "rounds": 4})).label is Label(case["expect"]["verdict"])


def test_whoever_comes_second_loses_nothing_in_a_palindrome() -> None:
    case, rng = CASES["e05-1"], random.Random(1)

    def visit_us(place: int) -> tuple[float, ...]:
        return (100 * (1 + case["given"]["order_pct"] / 100 * place),)

    def one_round() -> float:
        orders = [list(enumerate(order)) for order in palindromes(["new", "old"], 4, rng)]
        means = {arm: process_mean([visit_us(place) for order in orders for place, name in order if name == arm]) for arm in ("new", "old")}
        return means["new"] - means["old"]

    found = judged(np.array([[one_round()] for _ in range(9)]))
    assert found.label is Label(case["expect"]["verdict"])


def test_a_card_with_another_power_limit_is_another_board_and_its_times_say_little() -> None:
    case = CASES["e13"]
    new, old = (Sitting(1, "sha256:7", 6, ("GPU-1", None, float(watt), None), False) for watt in case["given"]["power_limit_w"])
    assert (not same_board(new, old)) is (case["expect"]["board"] == "another")
    times = np.random.default_rng(1).normal(0, 0.004, (2, 6, 1))
    (found,) = screen(times[0], times[1], ["cell"], correction.none(1), assumed(same_board(new, old)))
    assert found.label is Label(case["expect"]["verdict"])


@pytest.mark.parametrize("field", CASES["e13"]["expect"]["key_holds"])
def test_a_run_is_keyed_by_more_of_its_card_than_the_name(field: str) -> None:
    run = one_cell_each({"fa3": (500.0, 100.0)})
    board = run.environment.board
    other = replace(board, **{field: "590.10" if field == "driver" else (getattr(board, field) or 0) + 1})
    digests = {run_digest(run.scenario, replace(run.environment, board=each), run.protocol) for each in (board, other)}
    assert len(digests) == 2


def test_two_names_for_one_kernel_are_not_compared() -> None:
    case = CASES["e16-1"]
    kernels = {(arm, cell): (case["given"]["kernels"],) for arm in ("fa3/p1", "other/p1") for cell in (PREFILL, DECODE)}
    found = decide(one_cell_each({"fa3": (500.0, 100.0), "other": (400.0, 80.0)}, kernels=kernels))
    assert found.ruling is Ruling.KEEP
    assert all(case["expect"]["verdict"] in str(score.barred) for score in found.scores if score.pair != found.default)


def test_a_winner_is_of_the_head_dim_it_was_measured_on() -> None:
    case = CASES["e16-2"]
    found = {head_dim: with_head_dim(head_dim, speed) for head_dim, speed in case["given"]["speed_pct"].items()}
    best = {head_dim: "rival" if decide(run).ruling is Ruling.SWITCH else "default" for head_dim, run in found.items()}
    assert best == case["expect"]["best"]
    assert len({run_digest(run.scenario, run.environment, run.protocol) for run in found.values()}) == len(found)


def with_head_dim(head_dim: int, speed_pct: float) -> Run:
    layer = replace(LAYER, head_dim=head_dim, value_head_dim=head_dim)
    factor = 1 / (1 + speed_pct / 100)
    return one_cell_each({"fa3": (500.0, 100.0), "cudnn": (500.0 * factor, 100.0 * factor)}, model=replace(MODEL, layers=(layer,)))
