"""docs/measuring.md: what people wrote of the measuring, then what the committed sittings say."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from reports import numbers
from reports.page import Table, markdown_table
from tests.bench.sittings.claims import Evidence, claims
from tests.bench.sittings.judge import findings_of
from tests.bench.sittings.noise import CellNoise, noise_by_cell
from tests.bench.sittings.occasion_table import stored_path
from tests.bench.sittings.occasions import occasions
from tests.bench.sittings.ranking import repeats
from tests.bench.sittings.rows import read_rows
from tests.bench.sittings.sitting import Sitting
from tests.bench.sittings.sitting_table import miss_table, sitting_table
from tests.bench.statistics.row import Row

INTRODUCTION = Path(__file__).with_name("introduction.md")
WANTED = 15  # sittings with slowed copies
NOISE = """\
## How much times vary by themselves

Standard deviations: of a visit; of a process's difference between an arm and its copy (sigma_0), pooled over sittings, and the largest one
of a single sitting. Last the mean of all differences, which should be 0, with its standard error.
"""


@cache
def committed() -> str:
    """The page of the sittings that are kept."""
    return render(read_rows())


def render(sittings: Sequence[Sitting]) -> str:
    evidence = evidence_of(sittings)
    findings = evidence.findings
    tables = (_claims(evidence), sitting_table(findings), miss_table(findings), _noise(evidence.noise), stored_path(evidence.occasions))
    return "\n".join((INTRODUCTION.read_text(), *tables))


def evidence_of(sittings: Sequence[Sitting]) -> Evidence:
    findings = tuple(found for sitting in sittings for found in findings_of(sitting))
    judged = {each.sitting.run for each in findings if each.by_share}
    counted = tuple(sitting for sitting in sittings if sitting.run in judged)
    return Evidence(findings, noise_by_cell(findings), repeats(counted), occasions(sittings), counted)


def _claims(evidence: Evidence) -> str:
    measured = len({each.sitting.run for each in evidence.findings if any(each.by_share)})
    header = ("", "what", "where", "target", "seen", "of", "95 % bound", "")
    table = markdown_table(Table(header, tuple(map(_claim, claims(evidence)))))
    return f"## What came out\n\n{measured} of {WANTED} sittings with slowed copies.\n\n{table}\n"


def _claim(row: Row) -> tuple[str, ...]:
    word, share = ("at least", row.low) if row.high == 1 else ("at most", row.high)
    asked = (row.claim, row.what, row.case, {0.0: "none", 1.0: "all"}.get(share, f"{word} {numbers.percent(share)}"))
    if not row.of:
        return *asked, "", "0", "", "not measured yet"
    bound = row.bounds()[0 if row.high == 1 else 1]
    return *asked, str(row.seen), str(row.of), f"{word} {numbers.percent(bound)}", "holds" if row.holds else "missed"


def _noise(noise: Sequence[CellNoise]) -> str:
    if not noise:
        return f"{NOISE}\nNot measured yet.\n"
    header = ("arm", "cell", "us", "sittings", "visit", "sigma_0", "worst", "mean difference")
    return f"{NOISE}\n{markdown_table(Table(header, tuple(map(_noise_line, noise))))}\n"


def _noise_line(each: CellNoise) -> tuple[str, ...]:
    sigmas = (numbers.percent(sigma) for sigma in (each.sigma_visit, each.sigma_0, each.worst))
    us = numbers.microseconds(each.us).removesuffix(" us")
    return each.arm, each.cell, us, str(each.sittings), *sigmas, f"{100 * each.offset:+.2f} % ({100 * each.error:.2f} %)"
