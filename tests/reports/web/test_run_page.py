from __future__ import annotations

import math
from dataclasses import replace

import pytest

pytest.importorskip("matplotlib")

from backends.cell import Phase, attention_flops, kv_bytes
from backends.measured import Conditions
from backends.model import Attention
from backends.simulated.world import MARK
from reports import details
from reports.page import Table
from reports.web import limits, noise, processes, ratios
from reports.web.run_page import run_page
from reports.web.times import mean_context
from store.decision import CellResult, Interval
from store.runs.run import Run
from tests.reports import building
from tests.reports.evidence import strange_numbers
from tests.reports.web.reading import words

RUN = building.run(building.decision())


def counted(run: Run) -> Run:
    """With what a probe counts of each call, as `backends.probe` does."""
    cells = {weighted.cell.name: weighted.cell for weighted in run.cells}
    trials = tuple(
        each
        if each.cost is None
        else replace(
            each,
            bandwidth_bytes_per_s=kv_bytes(cells[each.cell], 2) / each.cost.device_us * 1e6,
            flops_per_s=attention_flops(cells[each.cell]) / each.cost.device_us * 1e6,
        )
        for each in run.trials
    )
    return replace(run, trials=trials)


@pytest.fixture(scope="module")
def text() -> str:
    return words(lambda: run_page(counted(RUN), building.pin()))


def test_every_number_is_one_of_the_run_or_follows_from_it(text: str) -> None:
    run = counted(RUN)
    decision = building.decision()
    spread = processes.times(run.race)
    shares = [share.of_limit for share in limits.shares(run, decision)]
    found = [result.ratio for result in decision.cells if result.ratio]
    turned = [1 / end for ratio in found for end in (ratio.estimate, ratio.low, ratio.high)]
    margins = [end - 1 for ratio in found for end in (ratio.low, ratio.high)] + [value - 1 for value in turned]
    contexts = [round(mean_context(each.cell)) for each in run.cells] + [sum(each.cell.context_lens) for each in run.cells]
    batches = [each.cell.batch for each in run.cells]
    off = [value for each in spread.values() for value in processes.deviations(each)]
    ends = [value for each in spread.values() for value in each]
    derived = (*shares, *turned, *margins, *(-value for value in margins), *contexts, *batches, *off, *ends)
    assert strange_numbers(text, run, building.pin(), derived) == set()


def test_the_page_has_all_that_the_long_report_has(text: str) -> None:
    for section in details.sections(RUN):
        assert section.title in text
        for table in (part for part in section.body if isinstance(part, Table)):
            assert all(" ".join(cell.split()) in text for row in table.rows for cell in row if "/" not in cell)


def test_of_a_simulated_gpu_no_command_is_to_be_copied_that_would_be_refused(text: str) -> None:
    pin = building.pin()
    made_up = words(lambda: run_page(RUN, replace(pin, valid_for=replace(pin.valid_for, gpu=f"{MARK}NVIDIA H200"))))
    assert "attnpin export" in text and "attnpin verify" in text and "attnpin check" in made_up
    assert "attnpin export" not in made_up and "attnpin verify" not in made_up


def test_nothing_shows_where_it_was_made_nor_a_value_that_is_none(text: str) -> None:
    for word in ("/home", "alice", "gpu07", "example.net", "bob", "pw@", " None", " nan", " inf"):
        assert word not in text


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.995, 1.004, ratios.Standing.TIE),
        (0.90, 0.95, ratios.Standing.FASTER),
        (1.002, 1.02, ratios.Standing.SLOWER),
        (0.97, 1.02, ratios.Standing.OPEN),
    ],
)
def test_a_tie_lies_within_the_margin_and_what_reaches_over_one_is_not_told_apart(
    low: float, high: float, expected: ratios.Standing
) -> None:
    assert ratios.standing(Interval((low + high) / 2, low, high, 0.95, 4), 0.01) is expected


def results(ratio: Interval, us: float) -> tuple[CellResult, ...]:
    return CellResult(building.FA3, building.DECODE, "graph", 100.0, None), CellResult(
        building.FLASHINFER, building.DECODE, "graph", us, ratio
    )


@pytest.mark.parametrize(
    ("interval", "us", "fastest", "said"),
    [
        (Interval(0.998, 0.993, 1.003, 0.95, 4), 99.8, f"{building.FLASHINFER} or {building.FA3}", "tie"),
        (Interval(1.002, 0.980, 1.024, 0.95, 4), 100.2, f"{building.FA3} or {building.FLASHINFER}", "not told apart"),
        (Interval(1.25, 1.20, 1.30, 0.95, 4), 125.0, building.FA3, "17 % to 23 % faster"),
        (Interval(0.80, 0.75, 0.85, 0.95, 4), 80.0, building.FLASHINFER, "15 % to 25 % faster"),
    ],
)
def test_a_winner_has_its_margin_and_a_tie_is_called_one(interval: Interval, us: float, fastest: str, said: str) -> None:
    decision = replace(building.decision(), cells=results(interval, us))
    section = ratios.winners(building.run(decision), decision)
    assert section is not None and isinstance(section.body[0], Table)
    (row,) = section.body[0].rows
    assert (row[3], row[-1]) == (fastest, said)


def test_an_arm_that_nothing_was_compared_with_wins_by_no_margin() -> None:
    lone = replace(results(Interval(1.1, 1.0, 1.2, 0.95, 4), 90.0)[1], ratio=None, lone_ratio=0.9)
    decision = replace(building.decision(), cells=(*results(Interval(1.1, 1.05, 1.2, 0.95, 4), 110.0), replace(lone, arm=building.NATIVE)))
    section = ratios.winners(building.run(decision), decision)
    assert section is not None and isinstance(section.body[0], Table)
    assert section.body[0].rows[0][3:] == (building.NATIVE, "90.00 us", "", "", ratios.NOTHING)


def test_where_one_process_timed_both_the_margin_is_not_sure() -> None:
    default, rival = results(Interval(1.25, 1.2, 1.3, 0.95, 4), 125.0)
    decision = replace(building.decision(), cells=(default, replace(rival, ratio=None, lone_ratio=1.25)))
    run = building.run(decision)
    section = ratios.winners(run, decision)
    assert section is not None and isinstance(section.body[0], Table)
    assert section.body[0].rows[0][3:] == (building.FA3, "100.0 us", building.FLASHINFER, "about 0.800", ratios.ONE_PROCESS)
    assert "no interval to draw" in ratios.lead(run, ())


def test_an_eager_calls_processes_are_those_of_its_time_as_it_is_served() -> None:
    first = RUN.rounds[0]
    served = replace(first.cells[0], visits=tuple(replace(visit, served_us=3 * visit.sample_us[0]) for visit in first.cells[0].visits))
    (us,) = processes.times([replace(first, cells=(served,))])[building.FA3, building.DECODE]
    assert math.isclose(us, 3 * first.cells[0].visits[0].sample_us[0])


def test_the_share_of_the_limit_is_the_least_time_by_the_time_it_took() -> None:
    run, decision = counted(RUN), building.decision()
    gpu = run.scenario.gpu
    assert gpu.bandwidth_bytes_per_s is not None and gpu.peak_flops is not None
    cells = {weighted.cell.name: weighted.cell for weighted in run.cells}
    found = list(limits.shares(run, decision))
    assert found
    for share in found:
        cell = cells[share.result.cell]
        least_us = max(kv_bytes(cell, 2) / gpu.bandwidth_bytes_per_s, attention_flops(cell) / gpu.peak_flops) * 1e6
        assert math.isclose(share.of_limit, least_us / share.result.median_us)
        assert share.bound == ("memory" if cell.phase is Phase.DECODE else "arithmetic")


def test_where_no_rate_is_known_or_work_is_not_counted_it_is_said_and_nothing_is_drawn() -> None:
    unknown = replace(RUN, scenario=replace(RUN.scenario, gpu=replace(RUN.scenario.gpu, bandwidth_bytes_per_s=None)))
    latent = replace(RUN, scenario=replace(RUN.scenario, model=replace(RUN.scenario.model, attention=Attention.MLA)))
    for run, why in ((unknown, limits.NONE_KNOWN), (latent, limits.NOT_COUNTED)):
        assert limits.lead(run) == (why,) and not list(limits.shares(counted(run), building.decision()))


def test_guards_show_what_was_watched_and_leave_out_what_nobody_told() -> None:
    section = noise.guards(RUN)
    assert section is not None and isinstance(section.body[0], Table)
    assert section.body[0] == Table(("cell", "clocks settled"), ((building.DECODE, "in 4 of 4 processes"),))
    seen = Conditions(3, (1500.0, 1980.0), None, (40.0, 61.0), (300.0, 690.5))
    watched = replace(RUN.rounds[0], cells=(replace(RUN.rounds[0].cells[0], conditions=seen, voided=("a stranger came",)),))
    section = noise.guards(replace(RUN, rounds=(watched,)))
    assert section is not None and isinstance(section.body[0], Table)
    assert section.body[0].rows[0][2:] == ("1 blocks", "1500 to 1980 MHz", "40 to 61 °C", "300 to 690 W")
