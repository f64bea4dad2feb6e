"""Two environments side by side, as a page."""

from __future__ import annotations

from reports import side_by_side, wording
from reports.page import Section, Table
from reports.verdict_row import times
from reports.web.page import Copied, Part, Plot, Tone, WebPage
from reports.web.ratio_plot import TOGETHER, ratio_plot
from reports.web.rows import Axis, Mark, is_wide, svg
from reports.web.series import Series
from store.comparisons.side_by_side import SIDES, SideBySide
from store.evidence.scrub import without_places
from store.verdicts.comparison import Label
from store.verdicts.version_verdict import Row, VersionVerdict

TONES = {Label.REGRESSED: Tone.BAD, Label.IMPROVED: Tone.GOOD, Label.EQUIVALENT: Tone.PLAIN}
SIDED = "candidate / baseline"
TIME_HEADER = ("arm", "cell", "baseline", "candidate")


def comparison_page(measured: SideBySide, verdict: VersionVerdict) -> WebPage:
    """Raises ImportError without matplotlib."""
    run = measured.baseline
    headline = side_by_side.headline(measured, verdict)
    first, *others = side_by_side.sections(measured, verdict)
    parts = (
        Part("commands", "Commands", copied=(Copied("Compare again", without_places(measured.command)),)),
        _ratios(verdict, first),
        _times(verdict),
        Part("grounds", "What else differs", open_sections=tuple(others)),
    )
    return WebPage(
        title=f"{wording.title(run)}: before and after",
        subtitle=f"{wording.engine_line(run)}; {verdict.rounds} pairs of fresh processes",
        tone=TONES.get(verdict.label, Tone.OPEN),
        label=verdict.label.value,
        answer=headline.removeprefix(f"{verdict.label.value}: "),
        facts=tuple(side_by_side.scope(measured, verdict)),
        parts=tuple(part for part in parts if part.has_something),
        made=f"attnpin {run.tool_version}, comparison {measured.id}, {measured.created}",
    )


def _ratios(verdict: VersionVerdict, table: Section) -> Part:
    arms = tuple(dict.fromkeys(row.arm for row in verdict.rows))
    plots = (ratio_plot("ratios", "Candidate against baseline", SIDED, verdict.rows, Series(arms)),) if verdict.rows else ()
    return Part("ratios", "Before and after", keys=Series(arms).keys(arms), plots=plots, open_sections=(table,))


def _times(verdict: VersionVerdict) -> Part:
    """Both sides of each arm, one plot an arm."""
    series = Series(SIDES)
    arms = {row.arm: [each for each in verdict.rows if each.arm == row.arm and each.cell] for row in verdict.rows}
    plots = tuple(_time_plot(number, arm, rows, series) for number, (arm, rows) in enumerate(arms.items()) if rows)
    return Part("times", "Times", keys=series.keys(SIDES) if plots else (), plots=plots)


def _time_plot(number: int, arm: str, rows: list[Row], series: Series) -> Plot:
    marks = [Mark(row.cell or TOGETHER, side, us, us, us) for row in rows for side, us in zip(SIDES, (row.old, row.new))]
    axis = Axis("time of one call, us", log=is_wide([mark.value for mark in marks]))
    drawn = svg(f"times-{number}", f"Dot plot: time of {arm} on each cell in the baseline and the candidate", marks, axis, series)
    table = Table(TIME_HEADER, tuple((row.arm, row.cell or TOGETHER, *times(row)) for row in rows))
    return Plot(arm, "Geometric means over the processes of either side.", drawn, table)
