"""Recorded times come back as they were: one recorded process a process, its own visits, in no time that was not recorded."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

import pytest

from backends.cell import Cell, Phase
from backends.simulated.recorded import NotRecorded, Recorded
from backends.simulated.world import Pace, RecordedCell
from tests.backends.simulated.worlds import CALM, DECODE, FA3, FLASHINFER, PREFILL, raced, tried


def served(cell: Cell, base: float) -> tuple[float | None, float | None]:
    """In visits, and in a probe."""
    return (None, None) if cell is DECODE else (2 * base, base + 40)


PROCESSES = tuple(
    tuple(
        RecordedCell(arm.name, cell.name, "", (base + process, base + process + 0.25), *served(cell, base), (11.0, 17.0))
        for arm, base in ((FA3, 300.0), (FLASHINFER, 400.0))
        for cell in (DECODE, PREFILL)
    )
    for process in range(8)
)
REPLAY = replace(CALM, recorded=PROCESSES)


def test_the_visits_of_a_process_are_those_of_one_recorded_process() -> None:
    seen = set()
    for seed in range(40):
        times = Recorded(REPLAY, seed)
        drawn = {times.visit_us(arm, DECODE, 1, 0.0)[0] for arm in (FA3, FLASHINFER) for _ in range(12)}
        processes = {int(us) % 100 for us in drawn}
        assert len(processes) == 1 and len(drawn) == 4
        seen |= processes
    assert seen == set(range(8))


def test_a_round_of_a_replay_holds_recorded_times_alone() -> None:
    recorded = {(each.arm, us) for process in PROCESSES for each in process for us in each.visit_us}
    measured = raced(REPLAY)
    assert {(visit.arm, us) for cell in measured.cells for visit in cell.visits for us in visit.sample_us} <= recorded
    assert all((host_us, idle_us) == pytest.approx((11.0, 17.0)) for cell in measured.cells for _, host_us, idle_us in cell.metadata_us)


def test_host_work_is_as_recorded() -> None:
    on_decode, on_prefill = tried(REPLAY)
    assert on_decode.cost is not None and on_decode.cost.served_us is None
    assert on_prefill.cost is not None and on_prefill.cost.served_us == 340.0
    for cell in raced(REPLAY).cells:
        beside = {(visit.served_us or 0) / visit.sample_us[0] for visit in cell.visits if visit.arm == FA3.name}
        assert max(beside) == (0 if cell.cell == "decode" else pytest.approx(2.0, rel=0.05))


def test_a_slowdown_comes_on_top() -> None:
    slower = replace(REPLAY, paces=(Pace("fa3", 1.05, Phase.DECODE),))
    for arm, factor in ((FA3, 1.05), (FLASHINFER, 1.0)):
        assert Recorded(slower, 3).call_us(arm, DECODE) == pytest.approx(factor * Recorded(REPLAY, 3).call_us(arm, DECODE))
    assert median(Recorded(slower, 3).visit_us(FA3, PREFILL, 3, 0.0)) in {us for process in PROCESSES for us in process[1].visit_us}


def test_what_was_not_recorded_has_no_time() -> None:
    elsewhere = replace(DECODE, name="elsewhere")
    with pytest.raises(NotRecorded, match="the recording holds no time of fa3/p1 on elsewhere"):
        Recorded(REPLAY, 0).call_us(FA3, elsewhere)
