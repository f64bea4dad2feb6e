"""The picture of a history: time of a call at every point, one line an arm, with the verdict against the first. Needs matplotlib."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

from reports.web.rows import is_wide, plain_ticks
from store.past.course import Course, Step
from store.verdicts.comparison import Label

SIZE_INCHES = (9, 5)
COLOURS = {
    Label.REGRESSED: "tab:red",
    Label.SUSPECT: "tab:orange",
    Label.EQUIVALENT: "tab:green",
    Label.IMPROVED: "tab:blue",
    Label.INCONCLUSIVE: "tab:grey",
}
MARGIN = 0.03  # either way of the first point: what a point against stored times must leave to count
FORMATS = ("svg", "png", "pdf")


def draw(courses: Sequence[Course], kind: str) -> bytes:
    """A file of ``kind``, one of `FORMATS`. The same courses give the same SVG. Raises ImportError without matplotlib."""
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams["svg.hashsalt"] = "attnpin"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=SIZE_INCHES, layout="constrained")
    ticks = dict.fromkeys(label(step) for course in courses for step in course.steps)
    place = {name: number for number, name in enumerate(ticks)}
    for course in courses:
        _line(axes, course, place)
    given = {step.verdict.label for course in courses for step in course.steps if step.verdict}
    for verdict in (each for each in COLOURS if each in given):
        axes.scatter([], [], c=COLOURS[verdict], label=verdict.value)
    axes.set_xticks(range(len(place)), list(place), rotation=30, ha="right", fontsize="small")
    spread = [step.point.us for course in courses for step in course.steps]
    axes.set(ylabel="us of one call", title=f"{courses[0].cell}, bands: within {100 * MARGIN:.0f} % of the first point")
    axes.set_yscale("log" if is_wide(spread) else "linear")
    plain_ticks(axes.yaxis, is_wide(spread))
    axes.legend(fontsize="small")
    held = io.BytesIO()
    figure.savefig(held, format=kind, metadata={"Date": None} if kind == "svg" else None)
    pyplot.close(figure)
    return held.getvalue()


def _line(axes: Any, course: Course, place: Mapping[str, int]) -> None:
    """One arm: its times and their intervals, the band of its first point, a dot a verdict."""
    times = [step.point.us for step in course.steps]
    places = [place[label(step)] for step in course.steps]
    (line,) = axes.plot(places, times, linewidth=1, label=course.arm)
    axes.axhspan(times[0] * (1 - MARGIN), times[0] * (1 + MARGIN), color=line.get_color(), alpha=0.12, linewidth=0)
    axes.errorbar(places, times, yerr=_ends(course), fmt="none", ecolor=line.get_color(), elinewidth=1)
    axes.scatter(places, times, c=[colour(step) for step in course.steps], zorder=3)


def label(step: Step) -> str:
    """What ran there, and when."""
    return "\n".join([*(f"{name} {version}" for name, version in step.ran), step.point.created[:10]])


def colour(step: Step) -> str:
    return "black" if step.verdict is None else COLOURS[step.verdict.label]


def _ends(course: Course) -> list[list[float]]:
    """How far each interval of the ratio to the first point reaches below and above, in us."""
    first = course.steps[0].point.us
    ends = [_interval(step) for step in course.steps]
    return [
        [first * max(0.0, step.ratio - low) for step, (low, _) in zip(course.steps, ends)],
        [first * max(0.0, high - step.ratio) for step, (_, high) in zip(course.steps, ends)],
    ]


def _interval(step: Step) -> tuple[float, float]:
    if step.verdict is None:
        return step.ratio, step.ratio
    return math.exp(step.verdict.numbers.low), math.exp(step.verdict.numbers.high)
