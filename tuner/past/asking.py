"""`attnpin history --cell CELL --arm ARM`: from the database to what became of each arm."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from packaging.utils import canonicalize_name

from reports.course_plot import FORMATS, draw
from store.files import write_together
from store.past.course import Course, Point
from store.past.points import named_in, points_of
from store.runs.run import Run
from tuner.comparing.recorded import recorded
from tuner.errors import UsageError
from tuner.past.course import course_of
from tuner.past.recorded_points import names_in, points_in, points_of_run
from tuner.past.stored import existing
from tuner.settings import Settings
from tuner.suggest import instead

Names = tuple[tuple[str, ...], tuple[str, ...]]  # of arms, of cells

# What of a point an override of that name chooses.
CHOSEN: Mapping[str, Callable[[Settings], str]] = {
    "model": lambda settings: settings.scenario.model.name,
    "traffic": lambda settings: settings.scenario.traffic.name,
}


@dataclass(frozen=True)
class Asked:
    """``over``: a distribution by whose version points are put in order, None = by date. ``pinned``: the run behind a pin, which is the
    baseline then."""

    arms: tuple[str, ...]
    cell: str
    over: str | None = None
    pinned: Run | None = None


@dataclass(frozen=True)
class Source:
    """Where points come from: ``where`` in words, all ``names`` of arms and cells there, the points of an arm on a cell."""

    where: str
    names: Callable[[], Names]
    points: Callable[[str, str], tuple[Point, ...]]


def in_store(url: str) -> Source:
    """Raises as `existing`."""
    store = existing(url)
    return Source("run in the store", partial(named_in, store), partial(points_of, store))


def in_files(folders: Iterable[Path]) -> Source:
    """Comparisons as `attnpin compare --out` wrote them, each once however many folders hold it. Raises as `recorded`."""
    found = tuple({each.id: each for each in map(recorded, folders)}.values())
    return Source("comparison given", partial(names_in, found), partial(points_in, found))


def courses_in(source: Source, settings: Settings, overrides: Sequence[str], asked: Asked) -> tuple[Course, ...]:
    """One an arm. Of several models or traffics those that ``overrides`` name, else those of the newest run."""
    wanted = {name: of(settings) for name, of in CHOSEN.items() if any(each.startswith(f"{name}=") for each in overrides)}
    over = canonicalize_name(asked.over) if asked.over else None
    first, found = None if asked.pinned is None else asked.pinned.id, []
    for arm in asked.arms:
        every = with_pinned(source.points(arm, asked.cell), arm, asked)
        points = [each for each in every if all(getattr(each, name) == value for name, value in wanted.items())]
        if not points or first not in (None, *(each.run for each in points)):
            _refuse(source, arm, asked.cell)
        found.append(course_of(arm, asked.cell, points, over, first))
    return tuple(found)


def with_pinned(points: tuple[Point, ...], arm: str, asked: Asked) -> tuple[Point, ...]:
    """And that of the pin's own run, which the source need not have. Raises `UsageError` where it did not time that."""
    if asked.pinned is None or any(point.run == asked.pinned.id for point in points):
        return points
    own = tuple(points_of_run(asked.pinned, arm, asked.cell))
    if not own:
        timed = {visit.arm for each in asked.pinned.rounds for cell in each.cells if cell.cell == asked.cell for visit in cell.visits}
        known = (
            f"it timed {', '.join(sorted(timed))} there" if timed else f"its cells are {', '.join(w.cell.name for w in asked.pinned.cells)}"
        )
        raise UsageError(f"the pin's run {asked.pinned.id} did not time {arm} on {asked.cell}; {known}")
    return (*own, *points)


def _refuse(source: Source, arm: str, cell: str) -> None:
    arms, cells = source.names()
    for what, name, names in (("an arm", arm, arms), ("a cell", cell, cells)):
        if name not in names:
            raise UsageError(f"no {source.where} timed {what} called {name!r}; {instead(name, names)}")
    raise UsageError(f"no {source.where} timed {arm} on {cell} as asked; attnpin history lists the runs")


def plot(courses: Sequence[Course], file: Path) -> None:
    """Raises `UsageError` for a format that is not drawn, and without matplotlib; `StoreError`."""
    kind = file.suffix.removeprefix(".")
    if kind not in FORMATS:
        raise UsageError(f"--plot {file} names no format; end it in {', '.join(f'.{each}' for each in FORMATS)}")
    try:
        picture = draw(courses, kind)
    except ImportError as error:
        raise UsageError(f'--plot draws with matplotlib, which is not here ({error}); pip install "attnpin[plot]"') from None
    write_together([(file, picture)])
