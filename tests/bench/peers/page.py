"""docs/peers.md: ours beside the timing tools of others, as tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from reports import numbers
from reports.page import Table, markdown_table
from tests.bench.peers.about import about
from tests.bench.peers.bias import Bias, bias
from tests.bench.peers.oracle import CONFIDENCE, HALF_WIDTH, NEAR, Truth, truths, usual_half_width
from tests.bench.peers.peers import MUCH
from tests.bench.peers.rows import Row
from tests.bench.peers.score import DRAWS, Result, Share, results
from tests.bench.peers.targets import name_of, targets

INTRODUCTION = """\
# Against other ways of timing, on the same kernels

Made by `make bench-peers`. Everybody times the same prepared calls of SGLang's own attention backends (fa3, flashinfer, triton;
Qwen3-8B, 32 query and 8 KV heads, bf16) on 51 cells: decode of 1 to 64 requests of 1,024 to 12,288 tokens on average, prefill of 2,048 to
8,192 tokens after 0 to 8,192. A decode call is a replay of what the engine records, or the engine's launch for a tool that records by
itself; a prefill call is the engine's launch. What counts is device time.

- *Oracle*: all arms interleaved in many short processes; nobody's numbers enter it, and its own enter nobody's.
- *Regret*: how much longer a pick takes than the best arm, by the oracle.
- *Flips*: picks other than the usual one of their cell, over fresh processes on 12 of the cells.
- *Held*: seconds a contestant keeps a GPU for all cells, imports, builds and its own checks included, as if alone. `attnpin tune` imports
  for its later processes while earlier ones measure; so does it here. *Starts* are what of it goes before the first cell of a process.
"""
NOTHING = "Not measured yet.\n"
PICTURE = "peers.svg"
PHASES = ("decode", "prefill")
HEADER = ("", "cells", "worst regret", "mean regret", f"over {numbers.percent(MUCH)}", "flips", "clear winner missed", "held", "starts")


def render(rows: Sequence[Row]) -> str:
    good = [row for row in rows if row.failed is None]
    known = truths(good)
    if not known:
        return f"{INTRODUCTION}\n{NOTHING}"
    found = results(rows)
    parts = [
        _measured_on(good),
        _oracle(known.values()),
        _table(found),
        targets(found, len(known)),
        _abouts(found, good, known),
        _failures(rows),
        _cells(known, found),
    ]
    return "\n".join([INTRODUCTION, *(part for part in parts if part)])


def _measured_on(rows: Sequence[Row]) -> str:
    first = rows[0]
    versions = ", ".join(f"{name} {version}" for name, version in first.versions)
    return f"{first.board}, {versions}; {len(rows)} processes.\n"


def _oracle(known: Iterable[Truth]) -> str:
    widths = usual_half_width(known)
    if widths is None:
        return f"No cell has a runner-up within {numbers.percent(math.expm1(NEAR))} of the best.\n"
    usual, worst, near = (numbers.percent(value) for value in (*widths, math.expm1(NEAR)))
    reached = "reached on most of them" if widths[0] <= HALF_WIDTH else "not reached"
    return (
        f"Where the runner-up is within {near}, the oracle knows its distance to half-widths of {usual} (median) and {worst} (worst) at "
        f"{numbers.level(CONFIDENCE)} confidence; {numbers.percent(HALF_WIDTH)} was wanted, and {reached}.\n"
    )


def _table(found: Iterable[Result]) -> str:
    return f"{markdown_table(Table(HEADER, tuple(map(_line, found))))}\n\n![worst regret against GPU seconds]({PICTURE})\n"


def _line(result: Result) -> tuple[str, ...]:
    worst, mean = (("" if value is None else numbers.percent(value)) for value in (result.worst, result.mean))
    missed = "" if result.missed is None else _share(result.missed)
    return (
        *(name_of(result), str(len(result.regrets)), worst, mean, str(len(result.wrong))),
        *(_share(result.flips), missed, numbers.seconds(result.held.all_s), numbers.seconds(result.held.starts_s)),
    )


def _share(share: Share) -> str:
    return "" if share.value is None else f"{share.seen} of {share.of}"


def _abouts(found: Iterable[Result], rows: Sequence[Row], known: Mapping[str, Truth]) -> str:
    names = dict.fromkeys(result.name for result in found)
    biases = {name: tuple(_bias(bias(rows, known, name, phase)) for phase in PHASES) for name in names}
    lines = [(name, about(name).does, about(name).omits, *biases[name]) for name in names]
    note = (
        f"Flips of ours are of {DRAWS} races, each on processes drawn from those that timed all arms. More repetitions were tried on the "
        "cell of either part where a tool had been most wrong; elsewhere its picks are taken to stay, and its seconds are worked out. The "
        "last columns: what a tool's time is of the oracle's, the median over cells and arms and its range.\n"
    )
    header = ("", "what it does", "what it leaves out", *PHASES)
    return f"## Who they are\n\n{markdown_table(Table(header, tuple(lines)))}\n\n{note}"


def _bias(found: Bias | None) -> str:
    return "" if found is None else f"{numbers.ratio(found.usual)} ({numbers.ratio(found.low)} to {numbers.ratio(found.high)})"


def _failures(rows: Iterable[Row]) -> str:
    """What did not run, and why, each sentence once."""
    errors: dict[tuple[str, str], int] = {}
    for row in rows:
        for reading in row.readings:
            if reading.error:
                place = reading.tool, f"{reading.arm}: {reading.error.splitlines()[0]}"
                errors[place] = errors.get(place, 0) + 1
        if row.failed:
            errors[row.kind, row.failed.splitlines()[0]] = errors.get((row.kind, row.failed.splitlines()[0]), 0) + 1
    lines = tuple((who, str(count), what.replace("|", "/")) for (who, what), count in sorted(errors.items()))
    return f"## What did not run\n\n{markdown_table(Table(('', 'times', 'why'), lines))}\n" if lines else ""


def _cells(known: Mapping[str, Truth], found: Sequence[Result]) -> str:
    lines = []
    for cell, truth in sorted(known.items(), key=lambda item: _order(item[0])):
        wrong = ", ".join(f"{name_of(result)} {numbers.percent(result.regrets[cell])}" for result in found if cell in result.wrong)
        width = "" if truth.half_width is None or truth.gap > math.expm1(NEAR) else numbers.percent(truth.half_width)
        lines.append((cell, truth.best, numbers.microseconds(truth.us), numbers.percent(truth.gap), width, str(truth.processes), wrong))
    header = ("cell", "best", "a call", "runner-up behind", "half-width", "processes", f"picks over {numbers.percent(MUCH)} behind")
    return f"## Cells\n\n{markdown_table(Table(header, tuple(lines)))}\n"


def _order(cell: str) -> tuple[str, list[int]]:
    phase, _, sizes = cell.partition("-")
    return phase, [int(part) for part in sizes.replace("x", "+").split("+")]
