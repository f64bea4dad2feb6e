"""How often `gate` finds what an oracle knows to be slower, and how often what it calls slower is. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from store.comparisons.side_by_side import SideBySide
from store.verdicts.comparison import Label
from store.verdicts.version_verdict import VersionVerdict
from tests.bench.upgrades.measure import CANDIDATES, is_oracle
from tests.bench.upgrades.truth import Change, Truth, truths
from tuner.comparing.env import PRESENT
from tuner.comparing.judge import judge, rule_of
from tuner.comparing.sameness import moved

Upgrade = tuple[tuple[str, str | None, str | None], ...]  # distribution, old version, new version


@dataclass(frozen=True)
class Judged:
    """An arm on a cell in an upgrade: what was said after so many pairs, with the ratio's logarithm, and what is true."""

    upgrade: Upgrade
    arm: str
    cell: str
    label: Label
    estimate: float
    pairs: int
    truth: Truth


@dataclass(frozen=True)
class Proof:
    """A comparison whose answer is known: of an environment with itself, or with itself slowed."""

    which: str
    measured: SideBySide
    verdict: VersionVerdict


@dataclass(frozen=True)
class Tally:
    """``found`` of ``slower`` cells were called regressed; ``true`` of ``called`` were slower, of the others the oracle denies
    ``wrong`` and is not sure of the rest."""

    found: int
    slower: int
    true: int
    called: int
    wrong: int


def proofs(rows: Iterable[SideBySide]) -> tuple[Proof, ...]:
    """In the order of `CANDIDATES`, then as they were measured."""
    names = {(PRESENT, candidate): which for which, candidate in CANDIDATES.items()}
    found = [Proof(names[each.said], each, verdict_of(each)) for each in rows if each.said in names]
    return tuple(sorted(found, key=lambda proof: list(CANDIDATES).index(proof.which)))


def verdict_of(measured: SideBySide) -> VersionVerdict:
    return judge(measured, rule_of(measured))


def judged(rows: Sequence[SideBySide]) -> tuple[Judged, ...]:
    """Of every contest that has an oracle on a board of its kind: the arms and cells that both timed."""
    upgrades = [each for each in rows if each.said[0] != each.said[1] and not each.is_slowed]
    oracles = {_question(each): truths(each) for each in upgrades if is_oracle(each)}
    contests = [each for each in upgrades if not is_oracle(each) and _question(each) in oracles]
    return tuple(found for each in contests for found in _cells(each, oracles[_question(each)]))


def _cells(contest: SideBySide, true: dict[tuple[str, str], Truth]) -> Iterable[Judged]:
    for row in verdict_of(contest).rows:
        if row.cell is not None and (row.arm, row.cell) in true:
            numbers = row.verdict.numbers
            yield Judged(
                *(upgrade_of(contest), row.arm, row.cell, row.verdict.label, numbers.estimate, numbers.rounds),
                truth=true[row.arm, row.cell],
            )


def upgrade_of(measured: SideBySide) -> Upgrade:
    return tuple((change.what, change.before, change.after) for change in moved(measured.baseline, measured.candidate))


def _question(measured: SideBySide) -> tuple[object, ...]:
    run = measured.baseline
    return run.environment.board.name, run.scenario.model.name, run.scenario.traffic.name, upgrade_of(measured)


def tally(found: Sequence[Judged]) -> Tally:
    slower = [each for each in found if each.truth.must_be_found]
    called = [each for each in found if each.label is Label.REGRESSED]
    return Tally(
        found=sum(each.label is Label.REGRESSED for each in slower),
        slower=len(slower),
        true=sum(each.truth.change is Change.SLOWER for each in called),
        called=len(called),
        wrong=sum(each.truth.change in (Change.WITHIN, Change.FASTER) for each in called),
    )
