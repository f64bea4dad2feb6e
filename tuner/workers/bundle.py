"""The worker's code as one zip: the room `backends`, and modules of third parties that travel with it."""

from __future__ import annotations

import importlib.machinery
import io
import pathlib
import sys
import zipfile
from collections.abc import Iterable, Iterator, Sequence

import backends

BACKENDS = pathlib.Path(backends.__file__).parent
MOMENT = (1980, 1, 1, 0, 0, 0)  # the earliest a zip can name: equal files give equal bytes


def bundle(extra: Sequence[pathlib.Path] = (), room: pathlib.Path = BACKENDS) -> bytes:
    """A zip of ``room`` and of each file or package folder in ``extra``, every one at the top under its own name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in sorted(_members((room, *extra))):
            archive.writestr(zipfile.ZipInfo(name, MOMENT), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def foreign_sources(modules: Iterable[str], folders: Sequence[str] = ()) -> tuple[pathlib.Path, ...]:
    """Where the code of drivers outside `backends` lies here: the top-level file or folder of each of ``modules``.

    Looked for in ``folders`` (such as that of --config-dir), then on sys.path, without importing. A module that is not
    here is left out: it may be installed on the worker's side.
    """
    tops = sorted({module.partition(".")[0] for module in modules} - {BACKENDS.name})
    return tuple(place for top in tops if (place := _source(top, [*folders, *sys.path])) is not None)


def _source(top: str, folders: list[str]) -> pathlib.Path | None:
    spec = importlib.machinery.PathFinder.find_spec(top, folders)
    if spec is None or not spec.has_location or spec.origin is None:
        return None
    file = pathlib.Path(spec.origin)
    return file.parent if spec.submodule_search_locations else file


def _members(places: Iterable[pathlib.Path]) -> Iterator[tuple[str, pathlib.Path]]:
    for place in places:
        files = [place] if place.is_file() else place.rglob("*")
        for file in files:
            if file.is_file() and "__pycache__" not in file.parts:
                yield file.relative_to(place.parent).as_posix(), file
