"""An arm's time on a cell over its sittings, for a terminal or a program: what became of it since the first, then every point."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from backends.wire import to_plain
from reports import numbers, page
from reports.json_line import json_line
from reports.page import Section, Table, clean
from reports.side_by_side import WHY
from store.past.course import Course, How, Step
from store.verdicts.comparison import Label

HEADER = ("date", "what ran", "run", "processes", "one call", "ratio to the first", "to the one before", "verdict", "judged by")
LEGEND = "ratio = new/old, above 1 is slower; every point is judged against the first one, not against the one before it"


def render_text(courses: Sequence[Course]) -> str:
    return "\n".join(map(_course, courses))


def render_json(courses: Sequence[Course]) -> str:
    return json_line([to_plain(course) for course in courses])


def _course(course: Course) -> str:
    board = course.steps[0].point.environment.board.name
    about = [f"  on         {clean(board)}, {course.steps[0].point.model}, {course.steps[0].point.traffic} traffic"]
    about += [f"  note       {clean(note)}" for note in course.notes]
    points = Section("Points", (Table(HEADER, tuple(map(_row, course.steps))), LEGEND))
    changes = [page.text(Section("Changes", tuple(_changes(course))))] if course.changes is not None else []
    return "\n\n".join(["\n".join([headline(course), *about]), page.text(points), *changes]) + "\n"


def headline(course: Course) -> str:
    """The newest point against the first."""
    first, last = course.steps[0], course.steps[-1]
    where = f"{course.arm} on {course.cell}"
    if last.how is How.FIRST:
        return clean(f"{where}: one point alone, {_us(first)} with {_ran(first)}; there is nothing to hold it against yet")
    word = "not comparable" if last.verdict is None else last.verdict.label.value
    since = f"{_us(first)} with {_ran(first)}, {_us(last)} with {_ran(last)}"
    return clean(f"{word}: {where} {_change(last)} since the first point ({since}){_small_steps(course)}")


def _change(step: Step) -> str:
    """Slower is said both ways: as time, and as work done in the same time."""
    if step.verdict and step.verdict.label is Label.EQUIVALENT:
        return f"has changed by less than {numbers.percent(math.expm1(step.verdict.numbers.margin))}"
    said = numbers.moved(math.log(step.ratio), math.log(step.ratio))
    return f"{said} ({numbers.percent(1 - 1 / step.ratio)} less work in the same time)" if said.endswith("slower") else said


def _small_steps(course: Course) -> str:
    """Where a drift hides: no step was as large as what came of them all."""
    steps = [math.log(step.from_last) for step in course.steps if step.from_last is not None]
    largest, whole = max(steps, key=abs), math.log(course.steps[-1].ratio)
    if len(steps) < 2 or abs(whole) <= 1.5 * abs(largest):
        return ""
    return f"; no single step was more than {numbers.change(math.expm1(largest))}"


def _row(step: Step) -> tuple[str, ...]:
    ratio = "" if step.how is How.FIRST else _ratio(step)
    label = step.why_not or ("" if step.verdict is None else step.verdict.label.value)
    if step.verdict and step.verdict.why:
        label += f": {WHY[step.verdict.why]}"
    last = "" if step.from_last is None else numbers.ratio(step.from_last)
    return (
        step.point.created[:10],
        _ran(step),
        step.point.run,
        str(len(step.point.processes)),
        _us(step),
        ratio,
        last,
        label,
        step.how.value,
    )


def _ratio(step: Step) -> str:
    if step.verdict is None:
        return numbers.ratio(step.ratio)
    low, high = (numbers.ratio(math.exp(value)) for value in (step.verdict.numbers.low, step.verdict.numbers.high))
    return f"{numbers.ratio(step.ratio)} ({low} to {high})"


def _changes(course: Course) -> Iterator[str]:
    for change in course.changes or ():
        before, after = course.steps[change.at - 1], course.steps[change.at]
        moved = numbers.change(change.ratio - 1)
        when = f"{before.point.created[:10]} ({_ran(before)}) and {after.point.created[:10]} ({_ran(after)})"
        yield f"{moved} between {when}; p = {change.p_value:.1g}, for all places it could lie"
    if not course.changes:
        yield "none over 2 % that is sure"


def _us(step: Step) -> str:
    return numbers.microseconds(step.point.us)


def _ran(step: Step) -> str:
    return ", ".join(f"{name} {version}" for name, version in step.ran) or "nothing that is known"
