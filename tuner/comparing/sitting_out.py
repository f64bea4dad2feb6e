"""Which arms the next pair of processes times, and on which cells: those of which a label is still open. Pure.

An arm is timed on a cell until the cell has its label, and on all its cells until its share of the traffic has one: that is taken
inside one process. What is settled sits out, since a label once given stands. Controls are timed wherever an arm still is: whether
something else moved is asked of all the pairs that a verdict rests on. Who sits out follows from what is stored, so that a comparison
that was broken off goes on as it would have.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from reports import wording
from store.comparisons.side_by_side import SideBySide
from tuner.comparing.both import field_of
from tuner.comparing.differences import FEWEST, Key, differences, pairs_of, pairs_with
from tuner.comparing.families import judged_keys, shares
from tuner.comparing.sameness import controls
from tuner.racing.sieve import Entrant
from tuner.verdicts.rule import Rule
from tuner.verdicts.side_by_side import undecided

SHOWN = 3  # cells named of an arm


def needs_more(measured: SideBySide, rule: Rule) -> bool:
    """Whether another pair of processes may change a label."""
    pairs = len(pairs_of(measured))
    return pairs < FEWEST or (pairs < rule.looks[-1] and bool(open_keys(measured, rule)))


def next_field(measured: SideBySide, rule: Rule) -> tuple[Entrant, ...]:
    """Of the pair that is needed."""
    field = field_of(measured)
    if len(pairs_of(measured)) < FEWEST:
        return field
    seated = _seated(field, open_keys(measured, rule), controls(measured))
    return tuple(each for each in seated if each.cells)


def open_keys(measured: SideBySide, rule: Rule) -> frozenset[Key]:
    """Arms that are no controls, on the cells that their labels still wait for."""
    keys, _ = judged_keys(measured)
    cells = undecided(differences(pairs_of(measured), keys), rule) if keys else ()
    whole = {each.arm for each in shares(measured, keys) if undecided(each.differences(), rule).any()}
    return frozenset(key for key, is_open in zip(keys, cells) if is_open or key[0] in whole)


def sat_out(measured: SideBySide) -> Iterator[str]:
    """A sentence where not every arm was in every pair, on each of its cells."""
    pairs, judged = pairs_of(measured), judged_keys(measured)
    counts = {key: len(pairs_with(pairs, [key])) for keys in judged for key in keys}
    fewer = sorted({count for count in counts.values() if count < len(pairs)})
    if fewer:
        groups = {count: _named([key for key, its in counts.items() if its == count], counts) for count in fewer}
        said = "; ".join(f"after {count} {', '.join(named)}" for count, named in groups.items())
        yield f"what is settled sat out the rest of {len(pairs)} pairs: {said}"


def _seated(field: Sequence[Entrant], staying: Collection[Key], same: Collection[str]) -> Iterator[Entrant]:
    busy = {cell for _, cell in staying}
    for each in field:
        its = busy if each.arm.name in same else {cell for arm, cell in staying if arm == each.arm.name}
        yield Entrant(each.arm, each.cells & its)


def _named(keys: Collection[Key], every: Collection[Key]) -> Iterator[str]:
    """Arms, with their cells where others of the arm are not among ``keys``."""
    for arm in dict.fromkeys(arm for arm, _ in keys):
        mine, all_of_it = ([cell for name, cell in each if name == arm] for each in (keys, every))
        yield arm if mine == all_of_it else f"{arm} ({wording.the_first(mine, SHOWN)})"
