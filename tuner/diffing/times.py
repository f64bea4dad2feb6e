"""The newer run's times against the older one's, judged as a check judges today's against the pin's. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from backends.cell import Cell
from store.digest import cell_digest
from store.pins.pin_diff import Plain
from store.runs.run import Run
from store.verdicts.verdict import Change
from store.verdicts.version_verdict import Row
from tuner.checking.resting import resting
from tuner.checking.screen import Screen, same_board
from tuner.checking.screened import notes_of, rival_rows, served_rows
from tuner.checking.series import Key
from tuner.verdicts.session import assumed

NOT_TOUCHED = "nothing that it runs on changed"
SAME_CODE = "the same machine code"
BESIDE = "neither pin rests on it"


def screen_of(old: Run, new: Run, changes: Iterable[Change]) -> Screen:
    """Of two sittings, which are taken to differ by themselves as far as sittings of one board, or of two, do."""
    return Screen(old, new, resting(old, new.environment, changes), assumed(same_board(old, new)))


def judged(screen: Screen) -> tuple[Row, ...]:
    """Of cells that are the same ones; the objective where all its cells are."""
    rows = (*served_rows(screen), *rival_rows(screen))
    alike = alike_cells(screen.then, screen.now)
    whole = len(alike) == len(screen.then.cells)
    return tuple(row for row in rows if (row.cell in alike if row.cell else whole))


def plain(screen: Screen, rows: Sequence[Row]) -> Iterator[Plain]:
    """What both measured and nothing is judged of, in the order of the newer run."""
    done, alike = {(row.arm, row.cell) for row in rows}, alike_cells(screen.then, screen.now)
    for key in ((arm.name, cell) for arm in screen.now.arms for cell in alike):
        if key not in done and key in screen.old and key in screen.new:
            old_us, new_us = (math.exp(float(side[key].mean())) for side in (screen.old, screen.new))
            yield Plain(*key, old_us, new_us, _why(screen, key))


def alike_cells(old: Run, new: Run) -> tuple[str, ...]:
    """Names of the cells that stand in both runs with one content."""
    before = {name: cell_digest(cell) for name, cell in _cells(old)}
    return tuple(name for name, cell in _cells(new) if before.get(name) == cell_digest(cell))


def notes(screen: Screen, rows: Sequence[Row]) -> Iterator[str]:
    if rows:
        yield from notes_of(screen)
        yield f"two sittings are taken to differ by {100 * screen.noise.sigma:.1f} % by themselves; both in one: attnpin compare"


def _why(screen: Screen, key: Key) -> str:
    if key in screen.same:
        return SAME_CODE
    if (apart := screen.apart(key)) is not None:
        return apart
    return BESIDE if key[0] in screen.rests.touched else NOT_TOUCHED


def _cells(run: Run) -> Iterator[tuple[str, Cell]]:
    return ((weighted.cell.name, weighted.cell) for weighted in run.cells)
