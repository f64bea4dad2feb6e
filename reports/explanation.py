"""The numbers behind a verdict, comparison by comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence

from backends.wire import to_plain
from reports import numbers, page
from reports.json_line import json_line
from reports.page import Section, Table
from store.verdicts.comparison import CellVerdict, Comparison, Explanation

HEADER = ("new / old", "ratio", "SE", "df", "processes", "alpha", "t", "margin", "interval", "detectable", "answer")
NOTES = (
    "ratio = new/old, above 1 is slower; SE = its standard error; alpha = the error that this test may make at this look;",
    "t = standard errors that a bound must be away; detectable = the smallest true difference that four such runs of five would show.",
)


def render_text(explanations: Sequence[Explanation]) -> str:
    return "\n\n".join(["\n".join(NOTES), *(page.text(_section(each)) for each in explanations)]) + "\n"


def render_markdown(explanations: Sequence[Explanation]) -> str:
    return "\n\n".join([" ".join(NOTES), *(page.markdown(_section(each)) for each in explanations)]) + "\n"


def render_json(explanations: Sequence[Explanation]) -> str:
    """The records' own fields; estimates and their errors are natural logarithms of ratios."""
    return json_line(to_plain(tuple(explanations)))


def of_verdicts(question: str, verdicts: Sequence[CellVerdict]) -> Explanation:
    """The verdicts on two versions as an explanation."""
    return Explanation(question, tuple((each.numbers, _label(each)) for each in verdicts))


def _label(verdict: CellVerdict) -> str:
    return verdict.label.value if verdict.why is None else f"{verdict.label.value}: {verdict.why.value}"


def _section(explanation: Explanation) -> Section:
    rows = tuple((*_row(found), answer) for found, answer in explanation.answers)
    return Section(explanation.question, (*explanation.notes, *([Table(HEADER, rows)] if rows else [])))


def _row(found: Comparison) -> tuple[str, ...]:
    low, high = (numbers.ratio(math.exp(end)) for end in (found.low, found.high))
    return (
        found.what,
        numbers.ratio(math.exp(found.estimate)),
        numbers.percent(found.standard_error),
        numbers.significant(found.df, 3),
        str(found.rounds),
        numbers.small(found.alpha),
        numbers.significant(found.threshold, 3),
        numbers.percent(math.expm1(found.margin)),
        f"{low} to {high} ({numbers.level(found.confidence)})",
        numbers.percent(found.minimum_detectable),
    )
