"""A serving run for a terminal, for a program, and in a longer report."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from backends.wire import to_plain
from reports import numbers, serving_prediction
from reports.json_line import json_line
from reports.page import Section, Table, clean, text_table
from reports.serving_words import METRICS, middle, serves, starts_of, value_of
from store.runs.run import Run
from store.serving.serving_run import Contrast, ServingRun


def render_json(found: ServingRun) -> str:
    """The record's own fields on one line; other arguments of the starts stay beside their logs."""
    return json_line(to_plain(replace(found, starts=tuple(replace(start, settings=()) for start in found.starts))))


def render_text(found: ServingRun) -> str:
    head = [f"{found.label.value if found.label else 'void'}: {clean(found.sentence)}", *(_line(*each) for each in _scope(found))]
    tables = [f"\n{clean(title)}\n{text_table(table)}" for title, table in _tables(found)]
    notes = (*serving_prediction.unpredicted(found), *found.notes)
    return "\n".join([*head, *tables, *(_line("note", note) for note in notes)]) + "\n"


def section(run: Run) -> Section | None:
    """All serving runs of a pin; None where no server was measured."""
    said = [part for found in run.serving_runs for part in _said(found)]
    return Section("A real server, measured and predicted", (serving_prediction.LEAD, *said)) if said else None


def _said(found: ServingRun) -> Iterator[str | Table]:
    pin, against = (f"{serves(found, pinned)} ({_given(given)})" for pinned, given in ((True, found.flags), (False, found.against)))
    yield f"{pin} against {against}, {found.created[:10]}: {_starts(found)}; {_traffic(found)}."
    yield serving_prediction.table(found)
    yield from (f"{why}." for why in serving_prediction.unpredicted(found))
    yield Table(("at once", *_header(found.contrasts)), tuple((str(each.concurrency), *_row(found, each)) for each in found.contrasts))


def _header(contrasts: Sequence[Contrast]) -> tuple[str, ...]:
    seen = numbers.level(contrasts[0].ratio.confidence) if contrasts else ""
    return "metric", "pin", "against", f"ratio ({seen} interval)", "could see", "verdict"


def _scope(found: ServingRun) -> Iterator[tuple[str, str]]:
    yield "pin", f"{serves(found, True)}, {_given(found.flags)}"
    yield "against", f"{serves(found, False)}, {_given(found.against)}"
    yield "traffic", _traffic(found)
    yield "starts", _starts(found)


def _starts(found: ServingRun) -> str:
    versions = sorted({start.version for start in found.starts if start.version})
    release = f", release {', '.join(versions)}" if versions else ""
    return f"{starts_of(found)}, {found.sent.benchmark} benchmark{release}"


def _traffic(found: ServingRun) -> str:
    sent = found.sent
    requests = ", ".join(f"{count} at concurrency {each}" for each, count in zip(sent.concurrency, sent.requests))
    lengths = f"{sent.prompt_tokens} prompt and {sent.output_tokens} output tokens on average"
    whose = f", lengths of {sent.lengths}" if sent.lengths else ""
    return f"{lengths}{whose}; requests: {requests}; seed {sent.seed}"


def _given(words: Sequence[str]) -> str:
    return f"started with {shlex.join(words)}" if words else "CMD as it is"


def _tables(found: ServingRun) -> Iterator[tuple[str, Table]]:
    for concurrency in found.sent.concurrency:
        there = [each for each in found.contrasts if each.concurrency == concurrency]
        rows = tuple(_row(found, each) for each in there)
        if rows:
            title = f"concurrency {concurrency}, median of the starts (ratios are of times: above 1, the pin is slower)"
            yield title, Table(_header(there), rows)
    if any(each.change_ms is not None for each in found.predicted):
        yield "what the pin predicts of the median ITL by attention's times alone, and what the server did", serving_prediction.table(found)


def _row(found: ServingRun, each: Contrast) -> tuple[str, ...]:
    sides = (_middle(found, side, each) for side in (True, False))
    return (METRICS[each.metric], *sides, numbers.interval(each.ratio), numbers.percent(each.minimum_detectable), each.label.value)


def _middle(found: ServingRun, pinned: bool, each: Contrast) -> str:
    value = middle(found, pinned, each.metric, each.concurrency)
    return "" if value is None else value_of(each.metric, value)


def _line(label: str, words: str) -> str:
    return f"  {label:<12} {clean(words)}"
