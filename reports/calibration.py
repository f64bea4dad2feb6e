"""How much times vary on a board by themselves, for a terminal or for a program."""

from __future__ import annotations

from datetime import datetime, timedelta
from statistics import fmean, median, stdev

from backends.anchored import KNOWN_US, KNOWN_WITHIN, Anchors
from backends.wire import to_plain
from reports import neighbours, numbers
from reports.columns import fitted_table
from reports.json_line import json_line
from reports.page import Table
from store.boards.calibration import LIFE_DAYS, ArmNoise, Calibration

HEADER = ("arm", "cell", "visit", "block", "process", "mean", "floor", "lag 1", "remarks")
LEGEND = (
    "visit, block, process: standard deviations of a time, of a block's difference between an arm and itself, of a process's; mean: of",
    "those differences, which should be 0; floor: 99 of 100 such means lie below it; lag 1: how far a block foretells the next",
)
ANCHORS = {
    "read_us": "reading memory",
    "multiply_us": "multiplying on the tensor cores",
    "nothing_us": "64 kernels that do nothing",
}


def render_json(calibration: Calibration) -> str:
    """The record's own fields."""
    return json_line(to_plain(calibration))


def render_text(calibration: Calibration) -> str:
    table = fitted_table(Table(HEADER, tuple(map(_row, calibration.noise))))
    return "\n".join((*_head(calibration), "", table, "", *LEGEND, "", *_board(calibration), ""))


def _head(calibration: Calibration) -> tuple[str, ...]:
    board, processes = calibration.board, max(each.processes for each in calibration.noise)
    limit = "" if board.power_limit_w is None else f", {board.power_limit_w:.0f} W"
    driver = "" if board.driver is None else f", driver {board.driver}"
    until = datetime.fromisoformat(calibration.created) + timedelta(days=LIFE_DAYS)
    return (
        f"{board.name}{limit}{driver}: every arm against itself, {processes} processes (run {calibration.run})",
        f"process-to-process noise: {numbers.percent(calibration.sigma_0)}; it is the floor of every interval on this board until "
        f"{until:%Y-%m-%d}, or until its driver or power limit changes",
        f"called equivalent: {sum(each.equivalent for each in calibration.noise)} of {len(calibration.noise)}",
        *(neighbours.lines(calibration.neighbours, calibration.sigma_0) if calibration.neighbours else ()),
    )


def _row(noise: ArmNoise) -> tuple[str, ...]:
    spread = (noise.sigma_visit, noise.sigma_block, noise.sigma_process)
    lag = "" if noise.lag1 is None else f"{noise.lag1:.2f}"
    marks = {"host included": noise.with_host, "two bands": noise.two_mode, "not called equivalent": not noise.equivalent}
    remarks = [mark for mark, holds in marks.items() if holds]
    mean, floor = numbers.percent(noise.mean), numbers.percent(noise.floor)
    return noise.arm, noise.cell, *map(numbers.percent, spread), mean, floor, lag, ", ".join(remarks)


def _board(calibration: Calibration) -> tuple[str, ...]:
    last = calibration.anchors[-1]
    limits = f"limits: {last.bandwidth_bytes_per_s / 1e9:.0f} GB/s, {numbers.significant(last.flops_per_s / 1e12, 3)} TFLOP/s by this torch"
    if last.why_none is not None:
        return (limits, f"no anchors: {last.why_none}")
    return (limits, *(_anchor(name, words, calibration.anchors) for name, words in ANCHORS.items()), *_clock(calibration.anchors))


def _clock(anchors: tuple[Anchors, ...]) -> tuple[str, ...]:
    """The worse of before and after."""
    ratios = [ratio for each in anchors if (ratio := each.measured_of_known) is not None]
    if not ratios:
        return ()
    worst = max(ratios, key=lambda ratio: abs(ratio - 1))
    within = f"within {numbers.percent(KNOWN_WITHIN)}"
    judged = within if abs(worst - 1) <= KNOWN_WITHIN else f"not {within}, so no time on this board can be trusted"
    return (f"clock: {KNOWN_US:g} us are measured as {numbers.significant(worst * KNOWN_US, 5)} us, {judged}",)


def _anchor(name: str, words: str, anchors: tuple[Anchors, ...]) -> str:
    visits: list[tuple[float, ...]] = [getattr(each, name) for each in anchors if getattr(each, name)]
    us = [value for each in visits for value in each]
    moved = numbers.change(median(visits[-1]) / median(visits[0]) - 1)
    scatter = numbers.percent(stdev(us) / fmean(us)) if len(us) > 1 else numbers.UNKNOWN
    return f"anchor, {words}: {numbers.microseconds(median(us))}, scatter {scatter}, afterwards {moved}"
