"""ln(new/old) of an arm on a cell in one pair of processes, and of its whole share of the traffic. Pure.

A difference is taken block by block: the four passes of a block lie around each other, so what drifts is the same for both sides.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from statistics import fmean

import numpy as np

from backends.measured import Round
from store.comparisons.side_by_side import SideBySide
from store.decision import Pair
from store.scenario import Objective, WeightedCell
from tuner.arithmetic.objective import attention_ms, counted, process_of
from tuner.sanity.bounds import FEWEST_IN_A_PROCESS
from tuner.verdicts.inference import Array

Key = tuple[str, str]  # arm, cell
RoundPair = tuple[Round, Round]
FEWEST = 2  # pairs; one says nothing of its own error


def pairs_of(measured: SideBySide) -> tuple[RoundPair, ...]:
    """Rounds of one index, in order."""
    new = {each.index: each for each in measured.candidate.rounds}
    return tuple((old, new[old.index]) for old in measured.baseline.rounds if old.index in new)


def keys_of(pairs: Sequence[RoundPair]) -> tuple[Key, ...]:
    """Arms and cells that were timed on both sides from the first pair on, in two where there are two, in a fixed order. Those that sit
    out later ones were in fewer pairs than others."""
    if not pairs:
        return ()
    seen = Counter(key for pair in pairs for key in _timed(pair))
    return tuple(sorted(key for key in _timed(pairs[0]) if seen[key] >= min(FEWEST, len(pairs))))


def pairs_with(pairs: Sequence[RoundPair], keys: Collection[Key]) -> tuple[RoundPair, ...]:
    """Those that timed all of ``keys`` on both sides."""
    return tuple(pair for pair in pairs if _timed(pair).issuperset(keys))


def differences(pairs: Sequence[RoundPair], keys: Sequence[Key]) -> Array:
    """Shape (pairs, keys). A column holds the pairs that timed its key, in order, and then NaN."""
    blocks = [(_blocks(old), _blocks(new)) for old, new in pairs]
    found = np.full((len(pairs), len(keys)), math.nan)
    for place, key in enumerate(keys):
        column = [_difference(old[key], new[key]) for old, new in blocks if key in old and key in new]
        found[: len(column), place] = column
    return found


def too_few_blocks(pair: RoundPair) -> str | None:
    """The sentence for an arm of which so many blocks were lost that the pair says nothing; None where there is none."""
    old, new = map(_blocks, pair)
    for key in sorted({key for measured in pair for key in _prepared(measured)}):  # nothing may have come through of one
        its = [side.get(key, {}).keys() for side in (old, new)]
        if (common := len(its[0] & its[1])) < FEWEST_IN_A_PROCESS:
            return f"of {key[0]} on {key[1]} only {common} of {max(map(len, its))} blocks came through undisturbed on both sides"
    return None


def _timed(pair: RoundPair) -> frozenset[Key]:
    old, new = ({(visit.arm, cell.cell) for cell in measured.cells for visit in cell.visits} for measured in pair)
    return frozenset(old & new)


def _prepared(measured: Round) -> Iterator[Key]:
    return ((arm, cell.cell) for cell in measured.cells for arm, _ in cell.launches)


def objective_differences(pairs: Sequence[RoundPair], arm: str, cells: Sequence[WeightedCell], objective: Objective) -> Array:
    """Of attention's ms per 1000 output tokens where ``arm`` serves all the ``cells`` it was timed on. Shape (pairs, 1)."""
    found = [_objective(new, arm, cells, objective) - _objective(old, arm, cells, objective) for old, new in pairs]
    return np.array(found).reshape(len(pairs), 1)


def objective_ms(rounds: Iterable[Round], arm: str, cells: Sequence[WeightedCell], objective: Objective) -> float:
    """Geometric mean over ``rounds``, in ms per 1000 output tokens."""
    return math.exp(fmean(_objective(each, arm, cells, objective) for each in rounds))


def time_us(rounds: Iterable[Round], key: Key) -> float:
    """Geometric mean over rounds."""
    return math.exp(fmean(fmean(_blocks(each)[key].values()) for each in rounds))


def _objective(measured: Round, arm: str, cells: Sequence[WeightedCell], objective: Objective) -> float:
    process = process_of(measured)
    its = tuple(weighted for weighted in counted(cells, objective) if process.timed(arm, [weighted]))
    return math.log(attention_ms(process, Pair(arm, arm), its))


def _difference(old: Mapping[int, float], new: Mapping[int, float]) -> float:
    return fmean(new[block] - old[block] for block in old if block in new)


def _blocks(measured: Round) -> Mapping[Key, Mapping[int, float]]:
    """By arm and cell, the mean ln(us) of each block's visits."""
    return process_of(measured).block_ln_us
