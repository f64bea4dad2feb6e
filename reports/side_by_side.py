"""What became of attention between two environments, for a terminal, a pull request or a program: the verdict first, then its numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator

from backends.wire import to_plain
from reports import explanation, numbers, page, wording
from reports.page import Section, Table, clean
from store.comparison import Label, Why
from store.run import Run
from store.side_by_side import SideBySide
from store.version_verdict import Beside, Dispatch, Row, VersionVerdict

HEADER = ("arm", "cell", "baseline", "candidate", "ratio (98 % interval)", "verdict", "pairs", "detectable")
MOVED = ("what", "baseline", "candidate", "touches")
BESIDE = ("arm", "cell", "what", "baseline", "candidate")
TOGETHER = "all cells, ms per 1000 tokens"
LEGEND = (
    "ratio = candidate/baseline, above 1 is slower; detectable = the smallest true change that four such comparisons of five would show"
)
WHY = {
    Why.OPEN: "too few pairs",
    Why.NOISE: "the interval is too wide",
    Why.BORDERLINE: "it lies across the margin",
    Why.TWO_MODE: "its processes fall into two groups",
    Why.UNSETTLED: "clocks had not settled",
    Why.ENV_SHIFT: "arms that nothing touched moved too",
    Why.INCOMPARABLE: "the sides were not measured alike",
}
MORE = 6  # dispatches that are shown


def render_json(measured: SideBySide, verdict: VersionVerdict) -> str:
    """One line: the verdict's own fields, and what was compared."""
    said = {
        "id": measured.id,
        "baseline": measured.said[0],
        "candidate": measured.said[1],
        "board": measured.baseline.environment.board.name,
    }
    return json.dumps({**said, **to_plain(verdict)}) + "\n"


def render_text(measured: SideBySide, verdict: VersionVerdict) -> str:
    blocks = [[headline(measured, verdict), *_scope(measured, verdict)], *(page.text(each).split("\n") for each in _sections(verdict))]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def render_markdown(measured: SideBySide, verdict: VersionVerdict) -> str:
    head = f"**{page.escaped(headline(measured, verdict))}**"
    scope = "\n".join(f"- {page.escaped(line.strip())}" for line in _scope(measured, verdict))
    return "\n\n".join([head, scope, *map(page.markdown, _sections(verdict))]) + "\n"


def render_explained(verdict: VersionVerdict) -> str:
    """Every comparison in numbers."""
    question = "Is it slower, faster, or the same by less than the margin?"
    return explanation.render_text([explanation.of_verdicts(question, [row.verdict for row in verdict.rows])])


def headline(measured: SideBySide, verdict: VersionVerdict) -> str:
    return clean(f"{verdict.label.value}: {_said(verdict)}")


def _said(verdict: VersionVerdict) -> str:
    if verdict.broken:
        first = verdict.broken[0]
        more = f" (and {len(verdict.broken) - 1} more)" if len(verdict.broken) > 1 else ""
        return (
            f"{first.arm} on {first.cell} was measured in the baseline and is {first.outcome.value} in the candidate{more}: {first.detail}"
        )
    rows = [row for row in verdict.rows if not row.control]
    alike = [row for row in rows if row.verdict.label is verdict.label]
    if not alike:
        return "no arm was measured on both sides"
    if verdict.label in (Label.REGRESSED, Label.IMPROVED):
        return f"{_worst(alike)}; {len(alike)} of {len(rows)} comparisons {verdict.label.value}"
    if verdict.label is Label.EQUIVALENT:
        margin = numbers.percent(math.expm1(alike[0].verdict.numbers.margin))
        return f"in none of {len(rows)} comparisons did a time change by {margin}"
    return f"{len(alike)} of {len(rows)} comparisons are open, {WHY[alike[0].verdict.why or Why.OPEN]} ({alike[0].verdict.numbers.what})"


def _worst(rows: Iterable[Row]) -> str:
    row = max(rows, key=lambda row: abs(row.verdict.numbers.estimate))
    change = math.expm1(row.verdict.numbers.estimate)
    where = row.cell or "its share of the traffic"
    return f"{row.arm} is {numbers.change(change)} on {where} ({_times(row)[0]} before, {_times(row)[1]} now)"


def _scope(measured: SideBySide, verdict: VersionVerdict) -> Iterator[str]:
    run = measured.baseline
    yield f"  baseline   {_side(measured.said[0], measured.baseline)}"
    yield f"  candidate  {_side(measured.said[1], measured.candidate)}"
    yield f"  on         {clean(wording.title(run))}; {verdict.rounds} pairs of fresh processes"
    cells = ", ".join(weighted.cell.name for weighted in run.cells)
    yield f"  holds for  {cells}: nothing is said of other shapes, batches and contexts"
    yield from (
        f"  note       {clean(note)}" for note in dict.fromkeys((*verdict.notes, *measured.baseline.notes, *measured.candidate.notes))
    )


def _side(said: str, run: Run) -> str:
    versions = [f"{each.name} {each.version}" for each in run.environment.distributions]
    return clean(f"{said}: {', '.join(versions) or 'no kernel library'}")


def _sections(verdict: VersionVerdict) -> Iterator[Section]:
    rows = sorted(verdict.rows, key=lambda row: (row.control, row.arm, row.cell or ""))
    yield Section("Times", (Table(HEADER, tuple(map(_row, rows))), LEGEND)) if rows else Section("Times", ("none was taken on both sides",))
    if verdict.moved:
        lines = tuple((each.what, each.before or "absent", each.after or "absent", ", ".join(each.touches)) for each in verdict.moved)
        yield Section("What differs", (Table(MOVED, lines),))
    if verdict.dispatches:
        yield Section("Which code ran", tuple(_dispatches(verdict)))
    if verdict.beside:
        yield Section("Beside the time of a call", (Table(BESIDE, tuple(map(_beside, verdict.beside))),))


def _row(row: Row) -> tuple[str, ...]:
    found = row.verdict.numbers
    ratio, low, high = (numbers.ratio(math.exp(value)) for value in (found.estimate, found.low, found.high))
    label = row.verdict.label.value + (f": {WHY[row.verdict.why]}" if row.verdict.why else "") + (" (control)" if row.control else "")
    detectable = numbers.percent(found.minimum_detectable)
    return row.arm, row.cell or TOGETHER, *_times(row), f"{ratio} ({low} to {high})", label, str(found.rounds), detectable


def _times(row: Row) -> tuple[str, str]:
    unit = numbers.milliseconds if row.cell is None else numbers.microseconds
    return unit(row.old), unit(row.new)


def _dispatches(verdict: VersionVerdict) -> Iterator[str]:
    """What changed, one sentence each; what did not, in one."""
    changed = [each for each in verdict.dispatches if each.before != each.after or each.kernels or each.code is False]
    yield from map(_dispatch, changed[:MORE])
    if len(changed) > MORE:
        yield f"and {len(changed) - MORE} more; --json has all"
    same = [each for each in verdict.dispatches if each not in changed]
    if known := dict.fromkeys(each.arm for each in same if each.code):
        yield f"the same machine code on every cell not named above: {', '.join(known)}"
    if told := dict.fromkeys(each.arm for each in same if each.code is None):
        yield f"kernels of the same names, whose machine code the driver does not tell: {', '.join(told)}"


def _dispatch(each: Dispatch) -> str:
    where = f"{each.arm} on {each.cell}"
    if each.before != each.after:
        return f"{where} now means {each.after}, and was {each.before}: the dispatch changed{_kernels(each)}"
    return f"{where} runs other code on the same path ({each.after}){_kernels(each)}"


def _kernels(each: Dispatch) -> str:
    return f" ({each.kernels})" if each.kernels else ""


def _beside(each: Beside) -> tuple[str, ...]:
    return each.arm, each.cell, each.what, _amount(each.before, each.unit), _amount(each.after, each.unit)


def _amount(value: float, unit: str) -> str:
    if unit == "bytes":
        return numbers.memory(int(value))
    return {"s": numbers.seconds, "us": numbers.microseconds}.get(unit, numbers.small)(value)
