"""Which numbers a text may show: those of a record, as `reports.numbers` shows them, and a few counts and changes of them."""

from __future__ import annotations

import dataclasses
import html
import re
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any

from reports import effect, numbers, tails, wording
from reports.page import clean
from store.decision import Decision
from store.runs.run import Run

NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]\d+)?(?!\w)")
SHOWS = (numbers.microseconds, numbers.milliseconds, numbers.seconds, numbers.ratio, numbers.percent, numbers.gib)
SHOWS = (*SHOWS, numbers.wait, lambda value: numbers.memory(int(value)))
SHOWS = (*SHOWS, numbers.small, numbers.level, lambda value: numbers.percent(-value), lambda value: numbers.significant(value, 3))
CONSTANTS = {"1000", "1"}  # "per 1000 output tokens", "above 1 is slower"


def leaves(record: Any) -> Iterator[Any]:
    """Every string and number in a record."""
    if dataclasses.is_dataclass(record):
        yield from (leaf for field in dataclasses.fields(record) for leaf in leaves(getattr(record, field.name)))
    elif isinstance(record, (tuple, list)):
        yield from (leaf for item in record for leaf in leaves(item))
    elif isinstance(record, Enum):
        yield record.value
    elif record is not None and not isinstance(record, bool):
        yield record


def strange_numbers(text: str, run: Run, *records: Any) -> set[str]:
    """Numbers of ``text`` that are neither in the records (as number or inside a string of theirs) nor derived from them."""
    found = list(leaves((run, *records)))
    strings = [leaf for leaf in found if isinstance(leaf, str)]
    rest = without_strings(unescaped(text), (*strings, *(wording.by_backend(string, run.arms) for string in strings)))
    known = {number for leaf in found if not isinstance(leaf, str) for number in shown(leaf)}
    derived = {number for value in derivations(run) for number in shown(value)}
    return set(NUMBER.findall(rest)) - known - derived - CONSTANTS


def unescaped(text: str) -> str:
    return html.unescape(text).replace("\\", "")


def without_strings(text: str, strings: Iterable[str]) -> str:
    for part in sorted(
        {clean(string).removeprefix("unset, because ") for string in strings if re.search(r"\d", string)}, key=len, reverse=True
    ):
        text = re.sub(rf"(?<![\w.]){re.escape(part)}(?![\w])", "", text)
    return text


def shown(value: float) -> set[str]:
    return {str(value), *(NUMBER.search(show(value)).group() for show in SHOWS)}  # type: ignore[union-attr]


def derivations(run: Run) -> list[float]:
    """Counts, wall time in all and its shares, and the effect on TPOT and TTFT, which has its own test."""
    spent = [seconds for _, seconds in run.wall_seconds]
    failed = sum(trial.outcome.value != "measured" for trial in run.trials)
    counts = [len(run.rounds), failed, *range(len(run.exclusions) + 1)]
    return [*counts, sum(spent), *(seconds / sum(spent) for seconds in spent), *(_effects(run, run.decision) if run.decision else [])]


def _effects(run: Run, decision: Decision) -> list[float]:
    pairs = [score.pair for score in decision.scores]
    means = [edge for pair in pairs for found in effect.of_pair(run, decision, pair) for edge in (found.low, found.high)]
    edges = [(*found.default_ms, *found.change) for pair in pairs for found in tails.tails(run, decision, pair)]
    return [*means, *(100 * at for at in tails.PERCENTILES), *(edge for each in edges for edge in each)]
