"""The stored path: the same versions on another occasion, screened by the rules that ship. Whatever they flag is false. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from backends.cell import Cell
from store.digest import cell_digest
from store.verdicts.comparison import CellVerdict
from tests.bench.sittings.sitting import Sitting
from tuner.verdicts import correction as corrections
from tuner.verdicts import stored
from tuner.verdicts.bound import by_bound, told
from tuner.verdicts.correction import Correction
from tuner.verdicts.inference import Array
from tuner.verdicts.session import assumed


@dataclass(frozen=True)
class Occasions:
    """An arm in a sitting against itself in an earlier one, on the cells that both have: ln(new/old) as it is, and ``corrected_by``
    "controls", "anchors" or nothing, each with the variance that processes (and the correction) explain. ``incomparable``: why the
    rules would not compare the two."""

    arm: str
    new: Sitting
    old: Sitting
    cells: tuple[str, ...]
    corrected_by: str | None
    plain: Array
    corrected: Array
    plain_variance: Array
    corrected_variance: Array
    verdicts: tuple[CellVerdict, ...]
    incomparable: str | None

    @property
    def same_board(self) -> bool:
        return self.new.board == self.old.board


def occasions(sittings: Sequence[Sitting]) -> tuple[Occasions, ...]:
    """Every arm of every sitting against the latest earlier sitting on its board, and against the latest one on another."""
    ordered = sorted(sittings, key=lambda each: each.created)
    return tuple(_all_of(ordered))


def _all_of(ordered: Sequence[Sitting]) -> Iterator[Occasions]:
    for place, new in enumerate(ordered):
        for arm in (each.name for each in new.originals):
            before = [old for old in reversed(ordered[:place]) if alike(new, old, arm)]
            for same in (True, False):
                old = next((each for each in before if (each.board == new.board) is same), None)
                if old is not None:
                    yield compared(new, old, arm)


def alike(new: Sitting, old: Sitting, arm: str) -> bool:
    """Whether it is the same arm of the same versions, on a cell at least that both timed in processes enough."""
    enough = min(len(new.rounds), len(old.rounds)) >= stored.FEWEST
    entered = all(arm in {each.name for each in sitting.originals} for sitting in (new, old))
    before = {each.name: each.digest for each in old.distributions}
    same = all(before.get(each.name, each.digest) == each.digest for each in new.distributions)
    return enough and entered and same and bool(common(new, old, [arm]))


def common(new: Sitting, old: Sitting, arms: Sequence[str]) -> list[tuple[Cell, Cell]]:
    """Cells of one workload, whatever they are called there, that every process of both timed all of ``arms`` on."""
    theirs = {cell_digest(cell): cell for cell in old.cells if cell.name in set(old.timed(arms))}
    mine = [cell for cell in new.cells if cell.name in set(new.timed(arms))]
    return [(cell, theirs[digest]) for cell in mine if (digest := cell_digest(cell)) in theirs]


def compared(new: Sitting, old: Sitting, arm: str) -> Occasions:
    """A sitting's noise is the one assumed where too few pairs of sittings are known."""
    controls = [each.name for each in new.originals if each.name != arm and alike(new, old, each.name)]
    cells = common(new, old, [arm, *controls])
    if not cells:
        controls, cells = [], common(new, old, [arm])
    ours, theirs = _times(new, arm, [mine for mine, _ in cells]), _times(old, arm, [other for _, other in cells])
    taken, by = _correction(new, old, controls, cells)
    names = tuple(mine.name for mine, _ in cells)
    apart = stored.incomparable(_side(new), _side(old), taken)
    noise = assumed(new.board == old.board)
    plain, variance = ours.mean(axis=0) - theirs.mean(axis=0), _variance(ours) + _variance(theirs)
    return Occasions(
        arm=arm,
        new=new,
        old=old,
        cells=names,
        corrected_by=by,
        plain=plain,
        corrected=plain - taken.shift,
        plain_variance=variance,
        corrected_variance=variance + taken.variance,
        verdicts=stored.screen(ours, theirs, names, taken, noise, names if apart else ()),
        incomparable=apart,
    )


def _correction(new: Sitting, old: Sitting, controls: Sequence[str], cells: Sequence[tuple[Cell, Cell]]) -> tuple[Correction, str | None]:
    if controls:
        sides = [
            np.stack([_times(sitting, name, [pair[place] for pair in cells]) for name in controls], axis=1)
            for place, sitting in enumerate((new, old))
        ]
        return corrections.by_controls(*sides), "controls"
    if not (told(new.anchors) and told(old.anchors)):
        return corrections.none(len(cells)), None
    parts = [by_bound(new.anchors, old.anchors, mine.phase) for mine, _ in cells]
    shift, variance, exposure = (np.concatenate([getattr(part, field) for part in parts]) for field in ("shift", "variance", "exposure"))
    return Correction(shift, variance, parts[0].df, exposure), "anchors"


def _times(sitting: Sitting, arm: str, cells: Iterable[Cell]) -> Array:
    """ln of process means, shape (processes, cells), of the processes that all of ``cells`` were in."""
    times: Array = np.array([sitting.ln_us(arm, cell.name) for cell in cells], float).T
    return times[~np.isnan(times).any(axis=1)]


def _side(sitting: Sitting) -> stored.Sitting:
    board = (sitting.board, sitting.gpu, sitting.driver, sitting.power_limit_w)
    return stored.Sitting(sitting.protocol, "", len(sitting.rounds), board, sitting.power_capped)


def _variance(times: Array) -> Array:
    variance: Array = times.var(axis=0, ddof=1) / len(times)
    return variance
