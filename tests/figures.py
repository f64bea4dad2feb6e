"""The plots of docs/ from committed evidence: `python -m tests.figures` (make figures) draws them again. Needs matplotlib.

peers.svg                   worst regret against seconds on a GPU: tests/bench/peers
predicted-and-measured.svg  how two backends' step times differ in the engine, and as their calls predict: docs/data, examples/
over-versions.svg           decode time over versions of FlashInfer: examples/upgrade
whole-step.svg              how far differences between whole steps lie from predicted ones, once they are measured: tests/bench/step
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from backends.cell import Phase
from reports.course_plot import draw as draw_courses
from store.past.course import Course
from tests.bench.peers.plot import draw as draw_peers
from tests.bench.peers.rows import ROWS, read_rows
from tests.bench.peers.score import results
from tests.bench.step import plot as whole_step
from tests.bench.step.judge import differences
from tests.bench.step.rows import ROWS as STEP_ROWS
from tests.bench.step.rows import read_rows as read_steps
from tests.examples import comparisons
from tests.pages.sources import value
from tuner.comparing.recorded import recorded
from tuner.past.asking import Asked, courses_in, in_files
from tuner.settings import compose

DOCS = Path(__file__).parents[1] / "docs"
SIZE_INCHES = (7, 2.6)
OVER, CELL = "flashinfer-python", "decode-longest"
OF_ONE_BOARD = ("traffic=single_user",)  # the upgrades of that traffic were measured on one board
STARTS = ("warm-up, first start", "warm-up, second start", "benchmark, first start", "benchmark, second start")
STEP = "engine-benchmark/decode_step_ms"
DRIVER = "qwen3_8b-even-h200/decode-64"
PREDICTED_MS = f"({DRIVER}/triton - {DRIVER}/fa3) * {DRIVER}/layers / 1000"


def measured_ms() -> dict[str, float]:
    """triton - fa3 of one decode step of SGLang's own benchmark, by start."""
    return {start: value(f"{STEP}/triton/{place} - {STEP}/fa3/{place}") for place, start in enumerate(STARTS)}


def courses() -> tuple[Course, ...]:
    """Every arm that was measured on both sides of those committed upgrades that have the cell."""
    source = in_files([folder for folder in comparisons() if CELL in (each.cell.name for each in recorded(folder).baseline.cells)])
    arms, _ = source.names()
    return courses_in(source, compose(OF_ONE_BOARD), OF_ONE_BOARD, Asked(arms, CELL, OVER))


def predicted_and_measured() -> bytes:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "attnpin"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=SIZE_INCHES, layout="constrained")
    _differences(axes)
    held = io.BytesIO()
    figure.savefig(held, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    return held.getvalue()


def _differences(axes: Any) -> None:
    predicted, allowed, found = value(PREDICTED_MS), value("engine-benchmark/may_differ"), measured_ms()
    axes.axvspan(predicted * (1 - allowed), predicted * (1 + allowed), color="tab:blue", alpha=0.12, linewidth=0)
    axes.axvline(predicted, color="tab:blue", label="predicted from attention calls; band: what it may differ by")
    axes.plot(list(found.values()), range(len(found)), "o", color="black", label="measured in the engine")
    axes.set_yticks(range(len(found)), list(found))
    axes.invert_yaxis()
    axes.margins(y=0.3)
    axes.set_xlim(left=0)
    axes.set_xlabel("triton - fa3, ms of one decode step")
    axes.legend(fontsize="small", loc="lower left")


def drawn() -> Iterator[tuple[str, bytes]]:
    """File names and contents, without peers.svg, which draws itself."""
    yield "predicted-and-measured.svg", predicted_and_measured()
    yield "over-versions.svg", draw_courses(courses(), "svg")
    rows = [row for row in read_steps(STEP_ROWS) if row.failed is None]
    if found := [each for phase in (Phase.DECODE, Phase.PREFILL) for each in differences(rows, phase)]:
        yield "whole-step.svg", whole_step.draw(found)


def make() -> None:
    draw_peers(results(read_rows(ROWS)), DOCS / "peers.svg")
    for name, content in drawn():
        (DOCS / name).write_bytes(content)


if __name__ == "__main__":
    make()
