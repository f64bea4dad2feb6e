"""A serving run for a terminal or for a program."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

from backends.wire import to_plain
from reports import numbers
from reports.page import Table, clean, text_table
from reports.serving_words import METRICS, serves, starts_of, value_of
from store.serving_run import Contrast, ServingRun


def render_json(found: ServingRun) -> str:
    """The record's own fields on one line; other arguments of the starts stay beside their logs."""
    return json.dumps(to_plain(replace(found, starts=tuple(replace(start, settings=()) for start in found.starts)))) + "\n"


def render_text(found: ServingRun) -> str:
    head = [f"{found.label.value if found.label else 'void'}: {clean(found.sentence)}", *(_line(*each) for each in _scope(found))]
    tables = [f"\n{clean(title)}\n{text_table(table)}" for title, table in _tables(found)]
    return "\n".join([*head, *tables, *(_line("note", note) for note in found.notes)]) + "\n"


def _scope(found: ServingRun) -> Iterator[tuple[str, str]]:
    yield "pin", f"{serves(found, True)}, {_given(found.flags)}"
    yield "against", f"{serves(found, False)}, {_given(found.against)}"
    sent = found.sent
    requests = ", ".join(f"{count} at concurrency {each}" for each, count in zip(sent.concurrency, sent.requests))
    lengths = f"{sent.prompt_tokens} prompt and {sent.output_tokens} output tokens on average"
    yield "traffic", f"{lengths}; requests: {requests}; seed {sent.seed}"
    yield "starts", f"{starts_of(found)}, {sent.benchmark} benchmark{_version(found)}"


def _given(words: Sequence[str]) -> str:
    return f"started with {shlex.join(words)}" if words else "CMD as it is"


def _version(found: ServingRun) -> str:
    versions = sorted({start.version for start in found.starts if start.version})
    return f", release {', '.join(versions)}" if versions else ""


def _tables(found: ServingRun) -> Iterator[tuple[str, Table]]:
    for concurrency in found.sent.concurrency:
        rows = tuple(_row(found, each) for each in found.contrasts if each.concurrency == concurrency)
        if rows:
            seen = numbers.level(next(each for each in found.contrasts if each.concurrency == concurrency).ratio.confidence)
            header = ("", "pin", "against", f"ratio ({seen} interval)", "could see", "")
            yield f"concurrency {concurrency}, median of the starts (ratios are of times: above 1, the pin is slower)", Table(header, rows)


def _row(found: ServingRun, each: Contrast) -> tuple[str, ...]:
    sides = (_middle(found, side, each) for side in (True, False))
    return (METRICS[each.metric], *sides, numbers.interval(each.ratio), numbers.percent(each.minimum_detectable), each.label.value)


def _middle(found: ServingRun, pinned: bool, each: Contrast) -> str:
    levels = (level for start in found.side(pinned) for level in start.levels if level.concurrency == each.concurrency)
    values = [value for level in levels if (value := getattr(level, each.metric)) is not None]
    return value_of(each.metric, median(values)) if values else ""


def _line(label: str, words: str) -> str:
    return f"  {label:<12} {clean(words)}"
