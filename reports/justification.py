"""pin.md: the reasons of a pin, one screen for a reviewer and everything else folded below it."""

from __future__ import annotations

from reports import details, headline, wording
from reports.page import Section, Table, bullet, escaped, markdown
from store.evidence.scrub import without_places
from store.pins.pin import Pin
from store.runs.run import Run


def render(pin: Pin, run: Run) -> str:
    """Markdown. Every number in it is one of ``pin`` or ``run``, or a count or change of such numbers."""
    screen = [f"# {wording.engine(pin.engine)} attention: {escaped(wording.title(run))}", "", *map(bullet, first_screen(pin, run))]
    folded = [markdown(section) for section in (flags(pin), *details.sections(run))]
    return "\n".join(screen) + "\n\n" + "\n\n".join(folded) + "\n"


def first_screen(pin: Pin, run: Run) -> tuple[headline.Line, ...]:
    return (
        *headline.lines(run),
        ("Valid for", wording.valid_for(pin)),
        ("Check again when", f"one of these changes: {wording.check(pin, run.command)}"),
        ("Made by", without_places(run.command)),
    )


def flags(pin: Pin) -> Section:
    """Each pinned flag with the reason that stands beside it in the launcher's files."""
    because = dict(pin.because)
    rows = tuple((wording.option(name), value, because.get(name, "")) for name, value in (*pin.flags, *pin.variables))
    return Section("Flags", (Table(("flag", "value", "because"), rows),) if rows else (f"Unset, because {wording.unset(pin.unset)}",))
