"""docs/upgrades.md: what the kept comparisons say, as tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache

from reports import numbers
from reports.page import Table, markdown_table
from reports.side_by_side import headline
from store.comparisons.side_by_side import SideBySide
from tests.bench.statistics.row import Row
from tests.bench.upgrades.measure import CANDIDATES, ORACLE_PAIRS, SHARE, is_oracle
from tests.bench.upgrades.plot import PICTURE
from tests.bench.upgrades.rows import read_rows
from tests.bench.upgrades.score import Judged, Proof, Upgrade, judged, proofs, tally, verdict_of
from tests.bench.upgrades.truth import CONFIDENCE, SAID, TO_BE_FOUND
from tuner.errors import OK, REGRESSED

INTRODUCTION = f"""\
# What `attnpin compare` makes of upgrades

Made by `make docs` from the comparisons that `python -m tests.bench.upgrades` made on a GPU, each as `attnpin compare` makes it with
`measure=gate`, judged by today's rule.

- *Known answers*: one environment with itself, which is to be exit 0, and with itself slowed by {numbers.percent(SHARE)}, which is to
  be exit 1. It is slowed by launches that are not counted as such, over the same pools (`--candidate slowed:{SHARE}`).
- *Real upgrades*: each against an *oracle*, {ORACLE_PAIRS} further pairs of fresh processes, a number that is fixed before. No process
  of the oracle is one that was judged. What it says is its {numbers.level(CONFIDENCE)} interval: *slower* or *faster* by surely over two
  percent, *within* two percent either way, or *across* that margin.

A ratio is new/old: above 1 is slower. Upgrades that were measured without an oracle (by heads and batch, a bisection, two checks of a pin)
lie in [examples/upgrade](../examples/upgrade), and [after-an-upgrade.md](after-an-upgrade.md) says what they show.
"""
NOTHING = "Not measured yet.\n"
WANTED = 12  # upgrades times cells
TIMES = 5
EXPECTED = {"same": OK, "slowed": REGRESSED}


@cache
def committed() -> str:
    """The page of the comparisons that are kept."""
    return render(read_rows())


def render(rows: Sequence[SideBySide]) -> str:
    return "\n".join((INTRODUCTION, _proofs(proofs(rows)), _upgrades(rows)))


def line(measured: SideBySide) -> str:
    """Of a comparison that was just made."""
    verdict = verdict_of(measured)
    kind = "oracle" if is_oracle(measured) else f"exit {verdict.exit_code}"
    return f"{measured.id}  {kind} after {verdict.rounds} pairs  {headline(measured, verdict)}"


def _proofs(found: Sequence[Proof]) -> str:
    title = "## Known answers\n"
    if not found:
        return f"{title}\n{NOTHING}"
    counts = "\n".join(f"- {_counted(which, [proof for proof in found if proof.which == which])}" for which in CANDIDATES)
    header = ("begun (UTC)", "candidate", "exit code", "pairs", "it says")
    return f"{title}\n{counts}\n\n{markdown_table(Table(header, tuple(map(_proof, found))))}\n"


def _counted(which: str, found: Sequence[Proof]) -> str:
    right = sum(proof.verdict.exit_code == EXPECTED[which] for proof in found)
    return f"{which}: exit {EXPECTED[which]} in {right} of {len(found)} comparisons, of {TIMES} that are wanted"


def _proof(proof: Proof) -> tuple[str, ...]:
    verdict = proof.verdict
    said = headline(proof.measured, verdict)
    return proof.measured.created[:16].replace("T", " "), proof.which, str(verdict.exit_code), str(verdict.rounds), said


def _upgrades(rows: Sequence[SideBySide]) -> str:
    title, found = "## Real upgrades\n", judged(rows)
    if not found:
        return f"{title}\n{NOTHING}"
    header = ("upgrade", "arm", "cell", "gate says", "ratio", "pairs", "oracle's ratio", "it is", "")
    picture = (f"![decode time over FlashInfer's versions]({PICTURE.name})\n",) if PICTURE.exists() else ()
    parts = (title, *picture, f"{len(found)} arms and cells of upgrades, of {WANTED} that are wanted at least.\n", _tallies(found))
    return "\n".join((*parts, markdown_table(Table(header, tuple(map(_cell, found)))))) + "\n"


def _tallies(found: Sequence[Judged]) -> str:
    counts = tally(found)
    recall = Row("", "", "", 0, 1, counts.found, counts.slower)
    precision = Row("", "", "", 0, 1, counts.true, counts.called)
    return "\n".join(
        (
            *_share(f"slower by {numbers.percent(math.expm1(TO_BE_FOUND))} or more, called regressed (recall)", recall),
            *_share("called regressed, and slower by over two percent (precision)", precision),
            f"- called regressed, and surely not: {counts.wrong}\n",
        )
    )


def _share(what: str, row: Row) -> Iterator[str]:
    bound = f", at least {numbers.percent(row.bounds()[0])} at 95 % confidence" if row.of else ""
    yield f"- {what}: {row.seen} of {row.of}{bound}"


def _cell(each: Judged) -> tuple[str, ...]:
    true = each.truth
    oracle = f"{numbers.ratio(math.exp(true.estimate))} ({numbers.ratio(math.exp(true.low))} to {numbers.ratio(math.exp(true.high))})"
    code = {True: "the same machine code", False: "other machine code", None: "code unknown"}[true.same_code]
    is_so = f"{true.change.value}, {code}"
    missed = "" if SAID.get(true.change, each.label) is each.label else "differs"
    return (
        _words(each.upgrade),
        each.arm,
        each.cell,
        each.label.value,
        numbers.ratio(math.exp(each.estimate)),
        str(each.pairs),
        oracle,
        is_so,
        missed,
    )


def _words(upgrade: Upgrade) -> str:
    return ", ".join(f"{what} {old or 'absent'} to {new or 'absent'}" for what, old, new in upgrade)
