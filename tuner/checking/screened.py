"""Today's times against those of a pin's evidence, cell by cell and for the objective. Pure.

Source: the measuring protocol, section 4.3: differences of two sittings, less what arms show that nothing touched.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from reports.wording import pair as words
from store.decision import Pair
from store.runs.run import Run
from store.scenario import WeightedCell
from store.verdicts.version_verdict import Row
from tuner.arithmetic.objective import counted
from tuner.checking.screen import Screen
from tuner.checking.series import Key, objective_series, shares
from tuner.checking.untouched import FEWEST
from tuner.unmeasured.regressions import served_pair
from tuner.verdicts.correction import Correction
from tuner.verdicts.inference import Array, Estimates
from tuner.verdicts.stored import difference, screened


def served_rows(screen: Screen) -> tuple[Row, ...]:
    """Of what is served and touched, and of the objective, a family of its own."""
    keys = screen.keys(screen.rests.at_stake)
    return (*_family(screen, keys), *_objective(screen)) if keys else ()


def rival_rows(screen: Screen) -> tuple[Row, ...]:
    """Each arm is a family of its own."""
    keys = screen.keys(screen.rests.rivals)
    families = [_family(screen, [key for key in keys if key[0] == arm]) for arm in dict.fromkeys(arm for arm, _ in keys)]
    return tuple(row for rows in families for row in rows)


def notes_of(screen: Screen) -> Iterator[str]:
    keys = screen.keys(screen.rests.in_question)
    yield from dict.fromkeys(sentence for key in keys if (sentence := screen.apart(key)))
    if alone := dict.fromkeys(cell for _, cell in keys if not screen.controls.get(cell)):
        where = "any cell" if len(alone) == len(dict.fromkeys(cell for _, cell in keys)) else ", ".join(alone)
        instead = "taken off by kernels that never change alone" if screen.anchored else "not taken off there"
        yield f"no arm that nothing touched was measured on {where}: what the whole board moved by is {instead}"


def _family(screen: Screen, keys: Sequence[Key]) -> tuple[Row, ...]:
    names = [" on ".join(key) for key in keys]
    apart = {name for name, key in zip(names, keys) if screen.apart(key)}
    found = screened(_together([screen.estimate(key) for key in keys]), names, apart)
    return tuple(Row(*key, _mean(screen.old[key]), _mean(screen.new[key]), each) for key, each in zip(keys, found))


def _objective(screen: Screen) -> tuple[Row, ...]:
    """Corrected as its cells are, each by its share; none where too few processes timed all of it."""
    then, pair = screen.then, _served(screen.then)
    cells = counted(then.cells, then.scenario.decide.objective)
    new, old = (objective_series(run, pair, cells) for run in (screen.now, screen.then))
    if min(len(new), len(old)) < FEWEST:
        return ()
    what = f"{words(pair)} on its share of the traffic"
    apart = {what} if any(screen.apart(key) for key in screen.keys(screen.rests.at_stake)) else set()
    (found,) = screened(difference(new[:, None], old[:, None], _by_shares(screen, pair, cells), screen.noise), [what], apart)
    return (Row(words(pair), None, _mean(old), _mean(new), found),)


def _by_shares(screen: Screen, pair: Pair, cells: Sequence[WeightedCell]) -> Correction:
    """As if all cells' controls erred alike: no surer than that."""
    parts = [(share, screen.correction(cell)) for cell, share in shares(screen.old, pair, cells).items()]
    shift = sum((share * each.shift for share, each in parts), np.zeros(1))
    error = sum((share * np.sqrt(each.variance) for share, each in parts), np.zeros(1))
    return Correction(shift, error**2, min(each.df for _, each in parts), np.zeros(1))


def _served(run: Run) -> Pair:
    pair = served_pair(run.decision) if run.decision else None
    if pair is None:
        raise ValueError(f"run {run.id} decided for no pair of arms")
    return pair


def _together(found: Sequence[Estimates]) -> Estimates:
    centre, error, df = (np.concatenate([np.atleast_1d(getattr(each, field)) for each in found]) for field in ("centre", "error", "df"))
    return Estimates(centre, error, df, min(each.rounds for each in found))


def _mean(values: Array) -> float:
    return math.exp(float(values.mean()))
