from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import pytest

from backends import rounds
from backends.arm import Arm
from backends.blame import ArmFailed
from backends.cell import Cell
from backends.measured import CellRound, Round
from backends.outcome import Outcome
from backends.spec import TimingSpec
from backends.timing.disturbance import Disturbed, Reading
from backends.timing.lookout import Lookout
from backends.timing.undisturbed import COOL_S, VOID_RETRIES
from backends.timing.warmup import for_process
from tests.backends.small import QUICK, arm, decode, prefill, silent, stage

CELLS = (decode(200, 90, generated=5), prefill((10, 60)))
SDPA = arm("backends.torch_sdpa:TorchSdpa", backend="torch_native")
PLAIN = arm("tests.backends.faulty:Plain", page_size=16, backend="plain")


@pytest.fixture(autouse=True)
def short_windows(monkeypatch: pytest.MonkeyPatch, small_processor: None) -> None:
    monkeypatch.setattr("backends.timing.warmup.WINDOW_S", 0.02)


def raced(*arms: Arm, seed: int = 1, timing: TimingSpec = QUICK) -> tuple[list[CellRound], Round]:
    *cells, last = rounds.run(7, seed, arms, CELLS, stage(), timing, silent)
    assert isinstance(last, Round)
    return cells, last


def test_a_process_visits_every_arm_twice_a_block_on_every_cell_in_palindromes() -> None:
    cells, whole = raced(SDPA, PLAIN)
    assert (whole.index, whole.seed, whole.cells) == (7, 1, tuple(cells))
    assert {cell.cell for cell in cells} == {"decode", "prefill"}
    for cell in cells:
        assert Counter(visit.arm for visit in cell.visits) == {SDPA.name: 4, PLAIN.name: 4}
        for block in range(QUICK.blocks):
            order = [visit.arm for visit in cell.visits if visit.block == block]
            assert order == order[::-1] and len(order) == 4
        assert all(sample > 0 for visit in cell.visits for sample in visit.sample_us)
        assert {name for name, _ in cell.launches} == {name for name, _, _ in cell.metadata_us} == {SDPA.name, PLAIN.name}


def test_every_arms_first_call_of_the_process_is_timed() -> None:
    cells, _ = raced(SDPA, PLAIN)
    for cell in cells:
        assert {name: seconds > 0 for name, seconds in cell.first_call_s} == {SDPA.name: True, PLAIN.name: True}


def test_the_round_says_where_its_time_went() -> None:
    _, whole = raced(SDPA)
    assert {phase for phase, _ in whole.seconds} == {"import", "build", "capture", "check", "warmup", "timing", "metadata", "identify"}
    assert all(seconds >= 0 for _, seconds in whole.seconds)


def test_the_order_of_cells_and_visits_comes_from_the_seed() -> None:
    def order(seed: int) -> list[tuple[str, tuple[str, ...]]]:
        return [(cell.cell, tuple(visit.arm for visit in cell.visits)) for cell in raced(SDPA, PLAIN, seed=seed)[0]]

    first = order(1)
    assert order(1) == first
    assert any(order(seed) != first for seed in range(2, 6))


def test_a_warm_up_that_did_not_settle_is_a_caution(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backends.cell_round.warm_up", lambda arms, timing, device, now: False)
    cells, whole = raced(SDPA)
    assert whole.labels == ("unsettled",) and not any(cell.settled for cell in cells)


def test_too_little_memory_for_a_cold_rotation_is_a_caution(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backends.stand.CPU_POOL_BYTES", 3 * 1100 * 300)
    _, whole = raced(SDPA)
    assert "warm-risk" in whole.labels


def watched(monkeypatch: pytest.MonkeyPatch, *readings: Reading) -> None:
    """The device tells ``readings`` in turn, the last for ever."""
    told = itertools.chain(readings, itertools.repeat(readings[-1]))
    monkeypatch.setattr("backends.torch_bench.lookout_over", lambda device: Lookout(told.__next__))


CALM, HOT = Reading(0, 0), Reading(0x20, 0)
BEFORE_BLOCKS = (CALM,) * 3  # opened, before the warm-up, before block 1


@pytest.fixture
def rests(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the device was left to cool, without the waiting."""
    taken: list[float] = []
    monkeypatch.setattr("backends.torch_bench.TorchBench.rest", lambda bench, seconds: taken.append(seconds))
    return taken


def test_a_block_during_which_the_device_slowed_down_is_timed_again_after_a_rest(
    monkeypatch: pytest.MonkeyPatch, rests: list[float]
) -> None:
    watched(monkeypatch, *BEFORE_BLOCKS, HOT, HOT, CALM)  # after block 1, after the rest, after its repeat
    said: list[str | None] = []
    cell, _ = rounds.run(7, 1, [SDPA], CELLS[:1], stage(), QUICK, lambda phase, arm=None, cell=None, detail=None: said.append(detail))
    assert isinstance(cell, CellRound) and rests == [COOL_S]
    assert cell.voided == ("thermal slowdown by the driver",)
    assert [(visit.block, visit.position) for visit in cell.visits] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert said.count("block 1 of 2") == 4 and said.count("block 2 of 2") == 2


def test_a_device_that_stays_slow_breaks_the_round_off_and_no_arm_is_blamed(monkeypatch: pytest.MonkeyPatch, rests: list[float]) -> None:
    watched(monkeypatch, *BEFORE_BLOCKS, HOT)
    with pytest.raises(Disturbed, match="measurement invalid: thermal slowdown by the driver, again after 3 rests of 10 s"):
        list(rounds.run(7, 1, [SDPA], CELLS[:1], stage(), QUICK, silent))
    assert rests == [COOL_S] * (1 + VOID_RETRIES)


def test_what_no_rest_mends_breaks_the_round_off_at_once(monkeypatch: pytest.MonkeyPatch, rests: list[float]) -> None:
    watched(monkeypatch, *BEFORE_BLOCKS, Reading(0, 0, xids=(79,)))
    with pytest.raises(Disturbed, match="measurement invalid: the driver reported Xid 79"):
        list(rounds.run(7, 1, [SDPA], CELLS[:1], stage(), QUICK, silent))
    assert rests == []


def test_a_round_keeps_what_the_board_was_like(monkeypatch: pytest.MonkeyPatch) -> None:
    watched(monkeypatch, Reading(0, 0, 55, 400.0, 1980, power_limit_w=700.0))
    for cell in raced(SDPA)[0]:
        found = cell.conditions
        assert found is not None and (found.sm_clock_mhz, found.power_limit_w) == ((1980.0, 1980.0), (700.0, 700.0))


def test_a_cpu_tells_no_clock_and_no_kernels() -> None:
    for cell in raced(SDPA)[0]:
        assert (cell.conditions, cell.code_ids, cell.spacer_us, cell.voided) == (None, (), None, ())
        assert {(visit.served_us, visit.sm_clock_mhz) for visit in cell.visits} == {(None, None)}


def test_the_same_arm_twice_under_two_names_is_two_arms() -> None:
    again = replace(SDPA, copy=2)
    assert (again.name, replace(SDPA, slowed=0.05).name) == (f"{SDPA.name}#2", f"{SDPA.name}+0.05")
    for cell in raced(SDPA, again)[0]:
        assert Counter(visit.arm for visit in cell.visits) == {SDPA.name: 4, again.name: 4}


def test_beside_an_arm_that_is_slowed_by_a_share_all_launch_as_often_as_that_takes() -> None:
    slower = replace(SDPA, slowed=0.05)
    for cell in raced(SDPA, PLAIN, slower)[0]:
        launches = dict(cell.launches)
        assert min(launches.values()) >= 20 and launches[slower.name] % 20 == 0


def test_what_the_device_told_is_a_caution_of_the_round(monkeypatch: pytest.MonkeyPatch) -> None:
    watched(monkeypatch, Reading(0, 0), Reading(0x04, 0))
    assert "power capped" in raced(SDPA)[1].labels


def test_pairs_to_skip_are_not_measured_and_a_cell_without_arms_is_left_out() -> None:
    skip = {(SDPA.name, "decode"), (PLAIN.name, "decode"), (PLAIN.name, "prefill")}
    *cells, _ = rounds.run(0, 1, [SDPA, PLAIN], CELLS, stage(), QUICK, silent, skip)
    seen = [(cell.cell, {visit.arm for visit in cell.visits}) for cell in cells if isinstance(cell, CellRound)]
    assert seen == [("prefill", {SDPA.name})]


def test_a_cell_that_is_left_out_does_not_take_the_long_warm_up_from_one_that_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def noted(timing: TimingSpec, order: list[Cell], device: str) -> dict[str, TimingSpec]:
        asked.append([cell.name for cell in order])
        return for_process(timing, order, device)

    monkeypatch.setattr("backends.rounds.for_process", noted)
    list(rounds.run(0, 1, [SDPA], CELLS, stage(), QUICK, silent, {(SDPA.name, "decode")}))
    assert asked == [["prefill"]]


def test_an_arm_that_fails_is_named_with_its_cell_and_outcome() -> None:
    wrong = arm("tests.backends.faulty:DropsNewest", backend="wrong")
    with pytest.raises(ArmFailed, match="wrong/p1@kernel on .*: relative error") as caught:
        raced(SDPA, wrong)
    assert (caught.value.arm, caught.value.outcome) == (wrong.name, Outcome.INCORRECT)
    assert caught.value.cell in ("decode", "prefill")


def test_an_arm_that_does_not_open_is_named_without_a_cell() -> None:
    unwilling = arm("tests.backends.faulty:Unwilling", backend="unwilling")
    with pytest.raises(ArmFailed) as caught:
        raced(SDPA, unwilling)
    assert (caught.value.arm, caught.value.cell, caught.value.outcome) == (unwilling.name, None, Outcome.REFUSED)


def test_an_arm_that_becomes_wrong_while_it_is_timed_is_caught_after_its_last_sample() -> None:
    with pytest.raises(ArmFailed) as caught:
        raced(arm("tests.backends.faulty:Spoils", backend="spoils"), timing=replace(QUICK, blocks=1))
    assert caught.value.outcome is Outcome.INCORRECT
