"""What busy neighbours do, out of rounds whose truth is known."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from backends.measured import Round
from store.runs.run import Run
from tests.tuner.building import DECODE, Recipe, arm, build, decode
from tuner.calibrating.neighbours import neighbours_of
from tuner.calibrating.noise import COPY

FA3, FLASHINFER = arm("fa3"), arm("flashinfer")
ARMS = (FA3, FLASHINFER, replace(FA3, copy=COPY), replace(FLASHINFER, copy=COPY))
FLOOR = 0.006


def rounds(seed: int, process_sd: float = 0.003, slower: float = 1.0, common: float = 1.0) -> tuple[Round, ...]:
    """Of every arm beside its copy; flashinfer takes ``slower`` times as long, and all of them ``common`` times."""
    times = {(each.name, DECODE): common * 100.0 * (slower if each.backend == "flashinfer" else 1.0) for each in ARMS}
    run: Run = build(Recipe(ARMS, times, (decode(),), processes=24, process_sd=process_sd, seed=seed))
    return run.rounds


def test_neighbours_that_do_nothing_are_harmless() -> None:
    found = neighbours_of(ARMS, rounds(1), rounds(2), 1)
    assert found.harmless(FLOOR) and (found.boards, found.processes) == (1, 24)
    assert {effect.arm for effect in found.effects} == {"fa3/p1", "flashinfer/p1"}


def test_what_they_do_to_all_arms_alike_is_told_and_does_no_harm() -> None:
    found = neighbours_of(ARMS, rounds(1), rounds(2, common=1.05), 1)
    assert found.harmless(FLOOR) and found.common == pytest.approx(math.log(1.05), abs=0.003)


def test_one_arm_that_moves_against_the_others_is_harm() -> None:
    found = neighbours_of(ARMS, rounds(1), rounds(2, slower=1.03), 1)
    assert not found.harmless(FLOOR)
    moved = {effect.arm: effect.moved for effect in found.effects}
    assert moved["flashinfer/p1"] == pytest.approx(math.log(1.03) / 2, abs=0.003) and moved["fa3/p1"] < 0


def test_more_noise_is_harm() -> None:
    assert not neighbours_of(ARMS, rounds(1), rounds(2, process_sd=0.02), 1).harmless(FLOOR)


def test_arms_that_were_measured_one_way_alone_prove_nothing() -> None:
    found = neighbours_of(ARMS, rounds(1), rounds(2)[:1], 1)
    assert found.effects == () and not found.harmless(FLOOR)
