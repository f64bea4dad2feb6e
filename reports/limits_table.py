"""The limits of every backend, from the data that decides: as text for a terminal, as Markdown for the docs, as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from textwrap import fill

from backends.capability import BackendEntry, Capability
from backends.limits import Limit, scope_in_words
from backends.question import ENGINES
from backends.wire import to_plain
from reports import limits_columns as columns
from reports.columns import TERMINAL, fitted_table
from reports.json_line import json_line
from reports.page import Section, Table, escaped, markdown_table
from reports.wording import count

Entries = Sequence[BackendEntry]
ELSEWHERE = "Where each limit was read: --json or --md."
MADE_FROM = "Made by `attnpin limits {}--md` of the data in `conf/backend/` that decides what a run may measure."


def render_text(entries: Iterable[BackendEntry], rules: str) -> str:
    """On lines of at most 100 characters."""
    known = known_to(entries, rules)
    parts = ["\n".join([section.title, *map(_text, section.body)]) for section in sections(known, rules)]
    return "\n\n".join([heading(known, rules), *parts, ELSEWHERE]) + "\n"


def render_markdown(entries: Iterable[BackendEntry], rules: str) -> str:
    known = known_to(entries, rules)
    shown = (*sections(known, rules), Section("Read from", (_sources(known, rules),)))
    parts = ["\n\n".join([f"## {section.title}", *map(_markdown, section.body)]) for section in shown]
    whose = "" if not known or known[0].engine == "sglang" else f"engine={known[0].engine} "
    return "\n\n".join([f"# {heading(known, rules)}", MADE_FROM.format(whose), *parts]) + "\n"


def render_json(entries: Iterable[BackendEntry], rules: str) -> str:
    """Each limit whole, with its conditions and its source."""
    return json_line({"rules": rules, "backends": [to_plain(_of_version(entry, rules)) for entry in known_to(entries, rules)]})


def known_to(entries: Iterable[BackendEntry], rules: str) -> Entries:
    """Those that the rule set ``rules`` has at all, in the order given."""
    return [entry for entry in entries if rules in entry.capability.versions]


def heading(entries: Entries, rules: str) -> str:
    engine = entries[0].engine if entries else "sglang"
    return f"Limits of the {count(len(entries), 'attention backend')} of {ENGINES[engine]} {rules}"


def sections(entries: Entries, rules: str) -> Iterator[Section]:
    yield Section("Where and what for", (columns.EMPTY_LEGEND, _table(entries, rules, columns.PLACES)))
    if undriven := tuple((entry.name, entry.undriven) for entry in entries if entry.undriven):
        yield Section("Not measured", (Table(("backend", "why"), undriven),))
    yield Section("Heads, pages and dtypes", (columns.DTYPE_LEGEND, _table(entries, rules, columns.SHAPES)))
    yield Section("What a model may bring", (columns.TRAIT_LEGEND, _table(entries, rules, columns.TRAITS)))
    yield Section("Features", (columns.FEATURE_LEGEND, _table(entries, rules, columns.FEATURES)))
    yield Section("Under a condition", (_conditions(entries, rules),))
    yield Section("Kernels behind a name", (columns.PATH_LEGEND, _paths(entries, rules)))
    yield Section("Costs and answers to look at", (columns.NOTE_LEGEND, _notes(entries, rules)))
    if rows := tuple(_deviations(entries, rules)):
        table = Table(("backend", "where", "steps", "keys seen", "what it does"), rows)
        yield Section("Answers that deviate", (columns.DEVIATION_LEGEND, table))


def _table(entries: Entries, rules: str, cells: columns.Columns) -> Table:
    rows = tuple((_name(entry), *(cell(entry, limits_of(entry, rules)) for cell in cells.values())) for entry in entries)
    return Table(("backend", *cells), rows)


def limits_of(entry: BackendEntry, rules: str) -> tuple[Limit, ...]:
    return tuple(limit for limit in entry.capability.limits if rules in limit.versions)


def _name(entry: BackendEntry) -> str:
    return ", ".join((entry.name, *entry.aliases))


def _conditions(entries: Entries, rules: str) -> Table:
    rows = tuple(
        (entry.name, scope_in_words(limit.when), columns.in_words(limit), limit.why or "")
        for entry in entries
        for limit in limits_of(entry, rules)
        if limit.when
    )
    return Table(("backend", "where", "takes", "why"), rows)


def _paths(entries: Entries, rules: str) -> Table:
    capable = [(entry.name, _of_version(entry, rules).capability) for entry in entries]
    rows = ((name, scope_in_words(path.when), path.name) for name, capability in capable for path in capability.paths)
    return Table(("backend", "where", "kernels"), tuple(rows))


def _notes(entries: Entries, rules: str) -> Table:
    capable = [(entry.name, _of_version(entry, rules).capability) for entry in entries]
    rows = ((name, scope_in_words(note.when), note.says) for name, capability in capable for note in capability.notes)
    return Table(("backend", "where", "what it does"), tuple(rows))


def _deviations(entries: Entries, rules: str) -> Iterator[tuple[str, ...]]:
    for entry in entries:
        for known in _of_version(entry, rules).capability.deviations:
            where, but = scope_in_words(known.when), scope_in_words(known.unless)
            seen = "all" if known.keys is None else f"{known.keys:+d}" if known.keys else "as asked"
            yield entry.name, where + (f", not with {but}" if but else ""), ", ".join(step.value for step in known.steps), seen, known.says


def _sources(entries: Entries, rules: str) -> Table:
    capable = [(entry.name, _of_version(entry, rules).capability) for entry in entries]
    return Table(("backend", "source"), tuple((name, "; ".join(_read(capability))) for name, capability in capable))


def _read(capability: Capability) -> Iterable[str]:
    """Where its data was read, each place once."""
    data = (capability.limits, capability.paths, capability.notes, capability.deviations)
    named = [[item.source for item in items] for items in data]
    return dict.fromkeys(source for sources in named for source in sources)


def _of_version(entry: BackendEntry, rules: str) -> BackendEntry:
    """What of its data holds for one rule set."""
    has = entry.capability
    paths = tuple(path for path in has.paths if rules in path.versions)
    notes = tuple(note for note in has.notes if rules in note.versions)
    deviations = tuple(known for known in has.deviations if rules in known.versions)
    return replace(entry, capability=replace(has, limits=limits_of(entry, rules), paths=paths, notes=notes, deviations=deviations))


def _text(part: object) -> str:
    return fitted_table(part) if isinstance(part, Table) else fill(str(part), TERMINAL, initial_indent="  ", subsequent_indent="  ")


def _markdown(part: object) -> str:
    return markdown_table(part) if isinstance(part, Table) else escaped(str(part))


RENDER = {"text": render_text, "markdown": render_markdown, "json": render_json}
