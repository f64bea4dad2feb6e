"""What became of attention between two environments, for a terminal, a pull request or a program: the verdict first, then its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from backends.outcome import Outcome
from backends.wire import to_plain
from reports import dispatch, explanation, numbers, page, ways_out, wording
from reports.json_line import json_line
from reports.outcome_words import ends
from reports.page import Section, Table, clean
from reports.verdict_row import interval, times
from store.comparisons.side_by_side import SideBySide
from store.runs.run import Run
from store.verdicts.comparison import Label, Why
from store.verdicts.version_verdict import Beside, Row, VersionVerdict

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


def render_json(measured: SideBySide, verdict: VersionVerdict) -> str:
    """One line: the verdict's own fields, and what was compared."""
    said = {
        "id": measured.id,
        "baseline": measured.said[0],
        "candidate": measured.said[1],
        "board": measured.baseline.environment.board.name,
    }
    return json_line({**said, **to_plain(verdict)})


def render_text(measured: SideBySide, verdict: VersionVerdict) -> str:
    head = "\n".join([headline(measured, verdict), *(f"  {label:<10} {sentence}" for label, sentence in scope(measured, verdict))])
    return "\n\n".join([head, *map(page.text, sections(measured, verdict))]) + "\n"


def render_markdown(measured: SideBySide, verdict: VersionVerdict) -> str:
    head = f"**{page.escaped(headline(measured, verdict))}**"
    held = "\n".join(map(page.bullet, scope(measured, verdict)))
    return "\n\n".join([head, held, *map(page.markdown, sections(measured, verdict))]) + "\n"


def render_explained(verdict: VersionVerdict) -> str:
    """Every comparison in numbers."""
    question = "Is it slower, faster, or the same by less than the margin?"
    return explanation.render_text([explanation.of_verdicts(question, [row.verdict for row in verdict.rows])])


def headline(measured: SideBySide, verdict: VersionVerdict) -> str:
    return clean(f"{verdict.label.value}: {_said(verdict, [arm.name for arm in measured.baseline.arms])}")


def _said(verdict: VersionVerdict, arms: Sequence[str]) -> str:
    open_ones = verdict.label is Label.INCONCLUSIVE  # what ran out of memory leaves the question open, whatever else broke answers it
    if broken := [each for each in verdict.broken if (each.outcome is Outcome.OUT_OF_MEMORY) is open_ones]:
        first = broken[0]
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        return f"{first.arm} on {first.cell} was measured in the baseline and {ends(first.outcome)} in the candidate{more}: {first.detail}"
    rows = [row for row in verdict.rows if not row.control]
    alike = [row for row in rows if row.verdict.label is verdict.label]
    if not alike:
        return next(iter(verdict.unlike), "no arm was measured on both sides")
    if verdict.label in (Label.REGRESSED, Label.IMPROVED):
        arms_alike = len({row.arm for row in alike})
        where = f", in {arms_alike} arms" if arms_alike > 1 else ""
        return f"{worst(alike, arms)}; {len(alike)} of {len(rows)} comparisons {verdict.label.value}{where}"
    if verdict.label is Label.EQUIVALENT:
        margin = numbers.percent(math.expm1(alike[0].verdict.numbers.margin))
        return f"in none of {len(rows)} comparisons did a time change by {margin}"
    are = "is" if len(alike) == 1 else "are"
    return f"{len(alike)} of {len(rows)} comparisons {are} open, {WHY[alike[0].verdict.why or Why.OPEN]} ({alike[0].verdict.numbers.what})"


def worst(rows: Sequence[Row], arms: Sequence[str] = ()) -> str:
    """The row that changed most, and how far its arm's other cells follow it. Of rows that changed alike the one whose arm comes first
    in ``arms``: what is served stands there before its variants."""
    cells = [row for row in rows if row.cell] or rows
    most = max(cells, key=_change)
    alike = [row for row in cells if row.arm in arms and _change(row) + _spread(row) >= _change(most) - _spread(most)]
    most = min(alike, key=lambda row: (arms.index(row.arm), -_change(row)), default=most)
    where, moved = most.cell or "its share of the traffic", f"{times(most)[0]} before, {times(most)[1]} now"
    changes = [row.verdict.numbers.estimate for row in rows if row.arm == most.arm and row.cell]
    if len(changes) < 2:
        return f"{most.arm} {numbers.moved(most.verdict.numbers.estimate, most.verdict.numbers.estimate)} on {where} ({moved})"
    return f"{most.arm} {numbers.moved(*sorted(changes, key=abs)[:: len(changes) - 1])} on {len(changes)} cells, most on {where} ({moved})"


def _change(row: Row) -> float:
    return abs(row.verdict.numbers.estimate)


def _spread(row: Row) -> float:
    return (row.verdict.numbers.high - row.verdict.numbers.low) / 2


def scope(measured: SideBySide, verdict: VersionVerdict) -> Iterator[tuple[str, str]]:
    """(label, sentence): what was compared, where, and what the answer holds for."""
    yield "baseline", _side(measured.said[0], measured.baseline)
    yield "candidate", _side(measured.said[1], measured.candidate)
    how = "" if measured.together else ", one after the other"
    yield "on", f"{clean(wording.title(measured.baseline))}; {verdict.rounds} pairs of fresh processes{how}"
    yield "holds for", f"{_covered(measured.baseline)}: nothing is said of other shapes, batches and contexts"
    notes = dict.fromkeys((*verdict.notes, *measured.baseline.notes, *measured.candidate.notes))
    yield from (("note", clean(note)) for note in notes)


def _covered(run: Run) -> str:
    """Every cell with its batch and longest context; heads per rank and KV dtypes of them all."""
    cells = [weighted.cell for weighted in run.cells]
    shown = ", ".join(f"{cell.name} ({cell.batch} x {max(cell.context_lens)} tokens at most)" for cell in cells)
    heads = dict.fromkeys(f"{cell.layer.query_heads}/{cell.layer.kv_heads} heads of {cell.layer.head_dim}" for cell in cells)
    dtypes = dict.fromkeys(arm.kv_dtype for arm in run.arms)
    return f"{shown}; {', '.join(heads)}, KV cache {', '.join(dtypes)}"


def _side(said: str, run: Run) -> str:
    versions = [f"{each.name} {each.version}" for each in run.environment.distributions]
    return clean(f"{said}: {', '.join(versions) or 'no kernel library'}")


def sections(measured: SideBySide, verdict: VersionVerdict) -> Iterator[Section]:
    """The times first."""
    rows = sorted(verdict.rows, key=lambda row: (row.control, row.arm, row.cell or ""))
    yield Section("Times", (Table(HEADER, tuple(map(_row, rows))), LEGEND)) if rows else Section("Times", ("none was taken on both sides",))
    if advice := tuple(ways_out.sentences(measured.baseline, verdict)):
        yield Section("Ways out", advice)
    if verdict.moved:
        lines = tuple((each.what, each.before or "absent", each.after or "absent", ", ".join(each.touches)) for each in verdict.moved)
        yield Section("What differs", (Table(MOVED, lines),))
    if verdict.dispatches:
        yield Section("Which code ran", tuple(dispatch.sentences(verdict.dispatches)))
    if verdict.beside:
        yield Section("Beside the time of a call", (Table(BESIDE, tuple(map(_beside, verdict.beside))),))


def _row(row: Row) -> tuple[str, ...]:
    found = row.verdict.numbers
    label = row.verdict.label.value + (f": {WHY[row.verdict.why]}" if row.verdict.why else "") + (" (control)" if row.control else "")
    detectable = numbers.percent(found.minimum_detectable)
    return row.arm, row.cell or TOGETHER, *times(row), interval(row), label, str(found.rounds), detectable


def _beside(each: Beside) -> tuple[str, ...]:
    return each.arm, each.cell, each.what, _amount(each.before, each.unit), _amount(each.after, each.unit)


def _amount(value: float, unit: str) -> str:
    if unit == "bytes":
        return numbers.memory(int(value))
    return {"s": numbers.seconds, "us": numbers.microseconds}.get(unit, numbers.small)(value)
