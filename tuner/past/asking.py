"""`attnpin history --cell CELL --arm ARM`: from the database to what became of each arm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from reports.course_plot import FORMATS, draw
from store.course import Course
from store.files import write_together
from store.history import named_in, points_of
from tuner.errors import UsageError
from tuner.past.course import course_of
from tuner.settings import Settings
from tuner.stored import existing
from tuner.suggest import instead

# What of a point an override of that name chooses.
CHOSEN: Mapping[str, Callable[[Settings], str]] = {
    "model": lambda settings: settings.scenario.model.name,
    "traffic": lambda settings: settings.scenario.traffic.name,
}


def courses_in(settings: Settings, overrides: Sequence[str], arms: Sequence[str], cell: str, over: str | None) -> tuple[Course, ...]:
    """One an arm. Of several models or traffics in the store those that ``overrides`` name, else those of the newest run."""
    store = existing(settings.store_url)
    wanted = {name: of(settings) for name, of in CHOSEN.items() if any(each.startswith(f"{name}=") for each in overrides)}
    found = []
    for arm in arms:
        points = [each for each in points_of(store, arm, cell) if all(getattr(each, name) == value for name, value in wanted.items())]
        if not points:
            _refuse(named_in(store), arm, cell)
        found.append(course_of(arm, cell, points, over))
    return tuple(found)


def _refuse(known: tuple[tuple[str, ...], tuple[str, ...]], arm: str, cell: str) -> None:
    arms, cells = known
    for word, name, names in (("arm", arm, arms), ("cell", cell, cells)):
        if name not in names:
            raise UsageError(f"no run in the store timed an {word} called {name!r}; {instead(name, names)}")
    raise UsageError(f"no run in the store timed {arm} on {cell} as asked; attnpin history lists the runs")


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
