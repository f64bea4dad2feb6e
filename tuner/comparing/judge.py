"""The verdict on two environments: from the rounds of both, by the rule of its profile. Pure.

Source: the measuring protocol, sections 4.1, 4.2 and 4.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from backends.outcome import Outcome
from store.comparisons.side_by_side import SideBySide
from store.verdicts.comparison import CellVerdict, Label
from store.verdicts.version_verdict import Broken, Row, VersionVerdict
from tuner.comparing import differences as taken
from tuner.comparing.deviating import deviating_apart
from tuner.comparing.differences import Key, RoundPair, pairs_of, pairs_with
from tuner.comparing.dispatch import beside, broken, dispatches
from tuner.comparing.env import SETTINGS
from tuner.comparing.families import judged_keys, shares
from tuner.comparing.known import known_issues
from tuner.comparing.sameness import moved, untouched
from tuner.comparing.sitting_out import sat_out
from tuner.comparing.tuning import tuned_apart
from tuner.comparing.uncompared import in_other_modes, without_baseline
from tuner.errors import OK, REGRESSED, Incomplete, WrongResults
from tuner.unmeasured.regressions import Regression
from tuner.verdicts.rule import Rule, rule_for
from tuner.verdicts.side_by_side import shifted, verdicts

CODES = {Label.REGRESSED: REGRESSED, Label.INCONCLUSIVE: Incomplete.exit_code, Label.SUSPECT: Incomplete.exit_code}
GRAVITY = (Label.REGRESSED, Label.SUSPECT, Label.INCONCLUSIVE, Label.IMPROVED, Label.EQUIVALENT)


def rule_of(measured: SideBySide) -> Rule:
    """Of its profile, with what a calibration of the board had said of noise when it began."""
    profile, floor = measured.baseline.scenario.measure.profile, measured.baseline.noise_floor
    return rule_for(profile) if floor is None else rule_for(profile, floor.sigma_0, floor.two_mode)


def judge(measured: SideBySide, rule: Rule, known: Iterable[Regression] = ()) -> VersionVerdict:
    """``known``: recorded faults, for what regressed. Raises ValueError below two pairs of rounds."""
    pairs, (asked, kept) = pairs_of(measured), judged_keys(measured)
    off = bool(kept) and shifted(taken.differences(pairs, kept), rule)
    rows = (
        *_rows(pairs, asked, rule, off),
        *_objectives(measured, asked, rule, off),
        *_rows(pairs, kept, rule, off, control=True),
    )
    failed, unlike = broken(measured), in_other_modes(measured)
    label = _gravest(rows, failed, unlike)
    return VersionVerdict(
        label=label,
        rows=rows,
        dispatches=dispatches(measured),
        broken=failed,
        beside=beside(measured),
        moved=moved(measured.baseline, measured.candidate),
        shifted=off,
        rounds=len(pairs),
        notes=(*unlike, *_apart(measured), *sat_out(measured), *_notes(measured, bool(kept))),
        exit_code=exit_code(label, failed),
        issues=tuple(known_issues(measured, rows, known)),
        unlike=unlike,
    )


def _apart(measured: SideBySide) -> Iterator[str]:
    """What one side alone was measured on, computed or chose."""
    yield from without_baseline(measured)
    yield from deviating_apart(measured)
    yield from tuned_apart(measured)


def _rows(pairs: Sequence[RoundPair], keys: Sequence[Key], rule: Rule, off: bool, control: bool = False) -> tuple[Row, ...]:
    if not keys:
        return ()
    names = [" on ".join(key) for key in keys]
    moving = {name for name, key in zip(names, keys) if _is_unsettled(pairs_with(pairs, [key]), key[1])}
    found = verdicts(taken.differences(pairs, keys), names, rule, moving, off)
    return tuple(_row(pairs_with(pairs, [key]), key, each, control) for key, each in zip(keys, found))


def _is_unsettled(pairs: Iterable[RoundPair], name: str) -> bool:
    return any(cell.cell == name and not cell.settled for pair in pairs for measured in pair for cell in measured.cells)


def _row(pairs: Sequence[RoundPair], key: Key, verdict: CellVerdict, control: bool) -> Row:
    old, new = (taken.time_us([pair[side] for pair in pairs], key) for side in (0, 1))
    return Row(*key, old, new, verdict, control)


def _objectives(measured: SideBySide, keys: Sequence[Key], rule: Rule, off: bool) -> Iterator[Row]:
    for each in shares(measured, keys):
        (verdict,) = verdicts(each.differences(), [f"{each.arm} on its share of the traffic"], rule, (), off)
        old, new = (taken.objective_ms([pair[side] for pair in each.pairs], each.arm, each.cells, each.objective) for side in (0, 1))
        yield Row(each.arm, None, old, new, verdict)


def _gravest(rows: Iterable[Row], failed: Sequence[Broken], unlike: Sequence[str]) -> Label:
    """Of the rows that are no controls; an arm that is served no more has regressed, whatever the others do. One that is served in
    another mode leaves the question open, and so does one that ran out of memory, of which a server has more than a side here."""
    labels = {row.verdict.label for row in rows if not row.control}
    if any(each.outcome is not Outcome.OUT_OF_MEMORY for each in failed):
        labels.add(Label.REGRESSED)
    if unlike or failed:
        labels.add(Label.INCONCLUSIVE)
    return next((label for label in GRAVITY if label in labels), Label.INCONCLUSIVE)


def exit_code(label: Label, failed: Iterable[Broken]) -> int:
    return WrongResults.exit_code if any(each.outcome is Outcome.INCORRECT for each in failed) else CODES.get(label, OK)


def _notes(measured: SideBySide, has_controls: bool) -> Iterable[str]:
    changes = moved(measured.baseline, measured.candidate)
    set_apart = measured.said[0] != measured.said[1] and any(said.startswith(SETTINGS) for said in measured.said)
    if measured.is_slowed:
        yield "the candidate is the baseline slowed by further launches: this measures the measuring"
    elif not changes and set_apart:
        yield "no version, content or variable differs between the two environments: what differs is what with: sets"
    elif not changes:
        yield "nothing differs between the two environments: this measures the measuring"
    elif untouched(measured):
        yield "nothing that moved touches an arm that was measured"
    elif not has_controls:
        yield "no arm was measured that nothing touches: a shift of the whole board between the sides would not be seen"
