"""An arm on a cell over all its sittings on one board, each judged against the first. Pure.

Against the first, not against the one before: steps that are each too small to be seen add up. Where a comparison measured the first
one's code in the same sitting, its pairs of processes judge; else the times are held against stored ones, which say less.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise

import numpy as np

from store.past.course import Course, How, Point, Step
from store.verdicts.comparison import CellVerdict
from tuner.comparing.judge import CODES
from tuner.errors import OK, Incomplete
from tuner.past.change_points import FEWEST_POINTS, change_points
from tuner.past.what_ran import apart, code_of, from_on, in_order, series
from tuner.verdicts.correction import none
from tuner.verdicts.inference import Array, Estimates
from tuner.verdicts.rule import rule_for
from tuner.verdicts.session import SessionNoise, session_noise
from tuner.verdicts.side_by_side import verdicts
from tuner.verdicts.stored import Sitting, difference, incomparable, screened

Verdicts = Mapping[Point, CellVerdict]


def course_of(arm: str, cell: str, points: Sequence[Point], over: str | None = None, first: str | None = None) -> Course:
    """Of the board, cell and protocol of the newest of ``points``, which must be some; ``over``: a distribution by whose version they
    are put in order, else they are by date. ``first``: the run among them that is the baseline, and what it is alike; what comes before it
    is left out."""
    ordered = in_order(alike := series(points, first), over)
    kept = from_on(ordered, first)
    paired, stored = _side_by_side(kept), _stored(kept)
    names = apart(kept)
    steps = tuple(_step(kept, place, names[place], paired, stored) for place in range(len(kept)))
    changes = change_points([point.ln_us for point in kept])
    return Course(arm, cell, steps, changes, tuple(_notes(points, alike, kept)), _exit_code(steps[-1]))


def _step(points: Sequence[Point], place: int, ran: tuple[tuple[str, str], ...], paired: Verdicts, stored: Verdicts) -> Step:
    first, point = points[0], points[place]
    ratio, last = math.exp(point.ln_us - first.ln_us), math.exp(point.ln_us - points[place - 1].ln_us) if place else None
    if not place:
        return Step(point, ran, ratio, last, How.FIRST)
    if point in paired:
        return Step(point, ran, math.exp(paired[point].numbers.estimate), last, How.SIDE_BY_SIDE, paired[point])
    if point in stored:
        return Step(point, ran, ratio, last, How.STORED, stored[point])
    return Step(point, ran, ratio, last, How.NOT, why_not=_objection(point, first))


def _side_by_side(points: Sequence[Point]) -> Verdicts:
    """Of points whose sitting measured the first one's code too."""
    found = {}
    for point in points[1:]:
        others = [each for each in points if point.comparison and each.comparison == point.comparison and each is not point]
        old = next((each for each in others if code_of(each) == code_of(points[0])), None)
        if old is not None and len(d := _pairs(point, old)) > 1:
            (found[point],) = verdicts(d[:, None], [point.run], rule_for(point.profile))
    return found


def _pairs(new: Point, old: Point) -> Array:
    before = dict(old.processes)
    return np.array([value - before[index] for index, value in new.processes if index in before])


def _stored(points: Sequence[Point]) -> Verdicts:
    """Of all others that are comparable with the first, one family."""
    first, noise = points[0], _noise(points)
    able = [point for point in points[1:] if _objection(point, first) is None]
    if not able:
        return {}
    able.sort(key=lambda point: len(point.processes))
    alike = [list(its) for _, its in groupby(able, key=lambda point: len(point.processes))]
    found = [difference(np.stack([_times(point) for point in its]), _times(first), none(1), noise) for its in alike]
    centre, error, df = (np.concatenate([getattr(each, name).ravel() for each in found]) for name in ("centre", "error", "df"))
    together = Estimates(centre, error, df, min(each.rounds for each in found))
    return dict(zip(able, screened(together, [point.run for point in able])))


def _objection(new: Point, first: Point) -> str | None:
    return incomparable(_sitting(new), _sitting(first), none(1))


def _sitting(point: Point) -> Sitting:
    board = point.environment.board
    where = (board.name, board.uuid, board.power_limit_w, board.mig)
    return Sitting(point.protocol, point.cell_digest, len(point.processes), where, point.capped)


def _noise(points: Sequence[Point]) -> SessionNoise:
    """Of whole sittings on this board, from those that measured one code again."""
    found = [each for code in dict.fromkeys(map(code_of, points)) for each in pairwise([p for p in points if code_of(p) == code])]
    apart_in_time = [(new, old) for new, old in found if new.comparison != old.comparison or new.comparison is None]
    able = [each for each in apart_in_time if min(len(point.processes) for point in each) > 1]
    variances = [sum(_times(point).var(ddof=1) / len(point.processes) for point in each) for each in able]
    return session_noise([new.ln_us - old.ln_us for new, old in able], variances, same_board=True)


def _times(point: Point) -> Array:
    """Shape (processes, 1)."""
    return np.array([[value] for _, value in point.processes])


def _notes(points: Sequence[Point], alike: Sequence[Point], kept: Sequence[Point]) -> Iterable[str]:
    if others := len(points) - len(alike):
        yield f"{others} more of that name are of another board, model, traffic, cell or protocol, and say nothing of these"
    if before := len(alike) - len(kept):
        yield f"{before} more of that name stand before the pin's own run, which is the baseline"
    if len(kept) < FEWEST_POINTS:
        yield f"too few points ({len(kept)}) to say when something changed; that takes {FEWEST_POINTS}"


def _exit_code(last: Step) -> int:
    if last.how is How.FIRST:
        return OK
    return Incomplete.exit_code if last.verdict is None else CODES.get(last.verdict.label, OK)
