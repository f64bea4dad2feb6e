"""What a step is made of: attention, and the rest of it as far as it is known."""

from __future__ import annotations

from typing import Any

from reports import choice, numbers
from reports.page import Table, clean
from reports.web import ink
from reports.web.page import Key, Plot
from reports.web.rows import FRAME_INCHES
from store.decision import Decision
from store.step_model import StepModel

BAR_INCHES, BAR = 0.36, 0.56
KEYS = (Key("attention, of the default", 1, "■"), Key("the rest, at the least", 0, "■"), Key("the rest, at the most", 0, "▨"))
HEADER = ("phase", "cell", "attention", "rest, at least", "rest, at most", "attention's share")


def plots(decision: Decision) -> tuple[Plot, ...]:
    """One a phase, whose steps differ in length by far."""
    phases = dict.fromkeys(step.phase for step in decision.steps)
    return tuple(_plot(phase, [step for step in decision.steps if step.phase == phase]) for phase in phases)


def _plot(phase: str, steps: list[StepModel]) -> Plot:
    title = f"A {phase} step"

    def draw(axes: Any) -> None:
        for place, step in enumerate(steps):
            _bar(axes, -place, step)
        axes.set_yticks([-place for place in range(len(steps))], [ink.short(clean(step.cell)) for step in steps])
        axes.set_xlabel("ms of one step")
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x")
        axes.spines["left"].set_visible(False)
        axes.margins(x=0.02)

    svg = ink.drawn(f"step-{phase}", f"Stacked bars: {title}", FRAME_INCHES + BAR_INCHES * len(steps), draw)
    note = _how_known(steps)
    return Plot(title, note, svg, Table(HEADER, tuple(map(_row, steps))))


def _how_known(steps: list[StepModel]) -> str:
    open_ended = any(step.rest_ms_high is None for step in steps)
    return choice.how_known(steps) + (" Where nothing bounds the rest, its bar ends with what is known." if open_ended else "")


def _bar(axes: Any, y: float, step: StepModel) -> None:
    axes.barh(y, step.attention_ms, BAR, color=ink.SERIES[0])
    axes.barh(y, step.rest_ms_low, BAR, left=step.attention_ms, color=ink.MUTED)
    if step.rest_ms_high is not None:
        left, more = step.attention_ms + step.rest_ms_low, step.rest_ms_high - step.rest_ms_low
        axes.barh(y, more, BAR, left=left, facecolor=ink.GRID, hatch="////", edgecolor=ink.PAPER, linewidth=0)


def _row(step: StepModel) -> tuple[str, ...]:
    most = "unbounded" if step.rest_ms_high is None else numbers.milliseconds(step.rest_ms_high)
    share = numbers.percent_range(step.share_low, step.share_high)
    return step.phase, step.cell, numbers.milliseconds(step.attention_ms), numbers.milliseconds(step.rest_ms_low), most, share
