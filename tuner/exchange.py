"""`attnpin db`: what a store holds to a file and back, and two stores into one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from store.database.connect import file_of, left_alone, open_store
from store.database.schema import SCHEMA
from store.exchange.export import items
from store.exchange.file import Contents, read_items, write_items
from store.exchange.items import Exchanged, Item, Kind, Plain, Took
from store.exchange.records import header_of
from store.exchange.taking import take
from store.files import destination
from tuner.errors import UsageError
from tuner.past.stored import existing, refuse_absent
from tuner.version import __version__


def export_to(file: Path, url: str) -> Exchanged:
    """Raises `UsageError`, `StoreError`."""
    source, counts = existing(url), Counter[tuple[Kind, Took | None]]()
    if (database := file_of(url)) is not None and destination(file) == destination(database):
        raise UsageError(f"{file} is the database of store.url; name another file")

    def counted() -> Iterable[Item]:
        for item in items(source):
            counts[item.kind, None] += 1
            yield item

    try:
        write_items(file, header_of(__version__, SCHEMA, _now()), counted())
    except ImportError as error:
        raise _without_pyarrow(file, error) from None
    return Exchanged(source.url, str(file), _sorted(counts))


def import_from(file: Path, url: str, trusted: bool) -> Exchanged:
    """Raises as `export_to`; nothing was taken where the file is not whole."""
    try:
        contents = read_items(file)
    except ImportError as error:
        raise _without_pyarrow(file, error) from None
    return _taken(contents.items(), str(file), url, trusted, _origin(file, contents))


def merge_from(other: str, url: str, trusted: bool) -> Exchanged:
    """``other`` is a URL, or the path of a SQLite file; it stays as it is."""
    there = other if "://" in other else f"sqlite:///{other}"
    refuse_absent(there)
    if _is_one(there, url):
        raise UsageError(f"{other} is the store itself; name another one")
    with left_alone(there) as source:
        origin = {"store": Path(source.url).name, "tool_version": __version__, "taken": _now()}
        return _taken(items(source), source.url, url, trusted, origin)


def _is_one(url: str, other: str) -> bool:
    """Whether both name the same database; a file by any of its names."""
    file, its = file_of(url), file_of(other)
    return url == other if file is None or its is None else file.resolve() == its.resolve()


def _taken(found: Iterable[Item], source: str, url: str, trusted: bool, origin: Plain) -> Exchanged:
    target, counts = open_store(url), Counter[tuple[Kind, Took | None]]()
    for item in found:
        try:
            counts[item.kind, take(target, item, trusted, origin)] += 1
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"{item.kind.value} {item.id} of {source} does not fit this attnpin ({error}); install the version that wrote it, "
                "and what came before it is there already"
            ) from error
    return Exchanged(source, target.url, _sorted(counts), trusted)


def _origin(file: Path, contents: Contents) -> Plain:
    said = {name: contents.header.get(name) for name in ("tool_version", "created")}
    return {"file": file.name, "file_sha256": contents.sha256, **said, "taken": _now()}


def _sorted(counts: Counter[tuple[Kind, Took | None]]) -> tuple[tuple[Kind, Took | None, int], ...]:
    order = [(kind, took) for kind in Kind for took in (None, *Took)]
    return tuple((*key, counts[key]) for key in order if counts[key])


def _without_pyarrow(file: Path, error: ImportError) -> UsageError:
    return UsageError(f'{file} takes pyarrow, which is not here ({error}); pip install "attnpin[parquet]", or name a .jsonl.zst file')


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
