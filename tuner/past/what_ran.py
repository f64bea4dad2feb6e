"""Which points of a history belong together, and what sets them apart. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from packaging.version import InvalidVersion, Version

from store.past.course import Point
from tuner.errors import UsageError
from tuner.pin import EVERYWHERE

Code = tuple[tuple[str, str], ...]
DRIVER = "driver"


def series(points: Sequence[Point], first: str | None = None) -> tuple[Point, ...]:
    """Those of the board, model, traffic, cell and protocol of the run ``first``, which must be among them; None = of the newest."""
    chosen = next(point for point in points if point.run == first) if first else max(points, key=lambda point: point.created)
    return tuple(point for point in points if _kind(point) == _kind(chosen))


def from_on(points: Sequence[Point], first: str | None) -> tuple[Point, ...]:
    """Without those before the run ``first``."""
    place = next((place for place, point in enumerate(points) if point.run == first), 0)
    return tuple(points[place:])


def _kind(point: Point) -> tuple[object, ...]:
    board = point.environment.board
    return board.name, board.uuid, board.mig, point.model, point.traffic, point.cell_digest, point.protocol


def in_order(points: Sequence[Point], over: str | None) -> tuple[Point, ...]:
    """By date, or by the version of ``over``, then by date. Raises `UsageError` where a point lacks that distribution."""
    if over is None:
        return tuple(sorted(points, key=lambda point: point.created))
    return tuple(sorted(points, key=lambda point: (_version(point, over), point.created)))


def _version(point: Point, name: str) -> Version:
    found = next((each.version for each in point.environment.distributions if each.name == name), None)
    if found is None:
        names = ", ".join(each.name for each in point.environment.distributions)
        raise UsageError(f"run {point.run} had no {name}; --over takes a distribution that every run had, this one had {names or 'none'}")
    try:
        return Version(found)
    except InvalidVersion:
        raise UsageError(f"{name} {found} of run {point.run} is no version that has an order; leave --over out") from None


def code_of(point: Point) -> Code:
    """What ran, by version and content: the arm's distributions, the driver and the engine."""
    return tuple((name, content) for name, _, content in _parts(point))


def apart(points: Sequence[Point]) -> tuple[Code, ...]:
    """Of each point the versions of what is not the same in all of them; where all is, the arm's own distributions."""
    contents = [{name: content for name, _, content in _parts(point)} for point in points]
    names = {name for name in set[str]().union(*contents) if len({each.get(name) for each in contents}) > 1}
    shown = names or {name for point in points for name in _own(point)}
    return tuple(tuple((name, version) for name, version, _ in _parts(point) if name in shown) for point in points)


def _parts(point: Point) -> Iterator[tuple[str, str, str]]:
    """Name, version, content."""
    behind = _own(point) | _owners(point, EVERYWHERE)
    yield from (
        (each.name, each.version, f"{each.version} {each.digest}") for each in point.environment.distributions if each.name in behind
    )
    whole = ((DRIVER, point.environment.board.driver), (point.engine, point.engine_version))
    yield from ((name, version or "none", version or "") for name, version in whole if name not in behind)


def _own(point: Point) -> set[str]:
    return _owners(point, frozenset(point.arm.rests_on))


def _owners(point: Point, packages: frozenset[str]) -> set[str]:
    return {owner for package, owner in point.environment.imports if package in packages}
