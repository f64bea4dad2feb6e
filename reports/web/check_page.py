"""What a check found of one pin, as a page: the answer, today's times against the pin's, what changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports import checked, verdict
from reports.headline import Line
from reports.page import Section
from reports.web.page import Copied, Part, Plot, Tone, WebPage
from reports.web.ratio_plot import ratio_plot
from reports.web.series import Series
from store.verdicts.checked import Answer, Checked
from store.verdicts.verdict import Status, Verdict
from store.verdicts.version_verdict import Row

TONES = {
    **dict.fromkeys((Answer.HOLDS.value, Answer.EQUIVALENT.value, Answer.IMPROVED.value, Status.UNCHANGED.value), Tone.GOOD),
    **dict.fromkeys((Answer.REGRESSED.value, Answer.WRONG.value, Answer.REFUSED.value, Status.KNOWN_BAD.value), Tone.BAD),
}
TODAY, TURNS = "today / pinned", "new / old, in turns"


def check_page(found: Checked | Verdict) -> WebPage:
    """Raises ImportError without matplotlib, where there are times to draw."""
    return _measured(found) if isinstance(found, Checked) else _unmeasured(found)


def _measured(found: Checked) -> WebPage:
    sections = tuple(checked.sections(found))
    rows = (*found.served, *found.rivals)
    confirmed = tuple(row for row in found.confirmed.rows if row.cell) if found.confirmed else ()
    series = Series(tuple(dict.fromkeys(row.arm for row in (*rows, *confirmed))))
    plots = tuple(_plots(rows, confirmed, series))
    part = Part("grounds", "What it rests on", keys=series.keys(series.names) if plots else (), plots=plots, open_sections=sections)
    return _page(found.pin, found.answer.value, found.sentence, tuple(checked.lines(found)), (part,))


def _unmeasured(found: Verdict) -> WebPage:
    section = Section("What changed", (verdict.change_table(found),))
    flags: tuple[Line, ...] = () if found.flags is None else (("flags", verdict.flags_line(found.flags)),)
    about: tuple[Line, ...] = (("pin of", found.about),) if found.about else ()
    known = tuple(("known", f"{verdict.BEARINGS[issue.bearing]}: {issue.what}: {issue.why}") for issue in found.issues)
    ways = tuple((checked.WAY_OUT, way) for issue in found.issues for way in issue.ways_out)
    parts = (
        Part("commands", "Commands", copied=(Copied("Next", found.command),) if found.command else ()),
        Part("grounds", "What it rests on", open_sections=(section,) if found.changes else ()),
    )
    return _page(found.pin, found.status.value, found.sentence, (*about, *flags, *known, *ways), parts)


def _plots(rows: Sequence[Row], confirmed: Sequence[Row], series: Series) -> Iterator[Plot]:
    if rows:
        yield ratio_plot("today", "Today against the pin", TODAY, rows, series)
    if confirmed:
        yield ratio_plot("turns", "Both versions in one sitting", TURNS, confirmed, series)


def _page(pin: str | None, label: str, sentence: str, facts: tuple[Line, ...], parts: tuple[Part, ...]) -> WebPage:
    kept = tuple(part for part in parts if part.has_something)
    return WebPage(pin or "Does the pin still hold?", "", TONES.get(label, Tone.OPEN), label, sentence, facts, kept, "attnpin check")
