"""Distributions laid over the present environment: installed into a folder of their own, never into it."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from backends.driver import Refused
from backends.worker import home, installer

FOLDER = "overlays"
FURTHER_FOLDERS = {"PIP_FIND_LINKS", "UV_FIND_LINKS"}  # of wheels


def built(requirements: Sequence[str], wheels: str | None, say: Callable[[str], None]) -> dict[str, Any]:
    """``folder`` holding just ``requirements`` ("name==version"), its ``distributions`` as (name, version, what it requires), and
    ``installed``, (name, version) of what they are laid over, for ``python`` of that version.

    From the folder ``wheels`` alone where one is given, else from the index that pip or uv is configured for. One that was built
    before is used again. Raises `Refused` with the installer's own words.
    """
    place = home.scratch() / FOLDER / _key(requirements, wheels)
    if not place.is_dir():
        _build(requirements, wheels, place, say)
    found = {"distributions": sorted(_distributions(place)), "installed": sorted(_installed())}
    return {"folder": str(place), "python": platform.python_version(), **found}


def _key(requirements: Sequence[str], wheels: str | None) -> str:
    where = None if wheels is None else os.path.abspath(wheels)
    offered = sorted(_files(wheels)) if wheels is not None and os.path.isdir(wheels) else None
    parts = [sorted(requirements), platform.python_version(), platform.machine(), where, offered]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _files(folder: str) -> Iterator[tuple[str, int, int]]:
    """Name, size and time of change: a wheel that was built anew keeps its name."""
    with os.scandir(folder) as found:
        yield from ((each.name, each.stat().st_size, each.stat().st_mtime_ns) for each in found if each.is_file())


def _build(requirements: Sequence[str], wheels: str | None, place: pathlib.Path, say: Callable[[str], None]) -> None:
    if wheels is not None:
        installer.wheels_in(wheels)
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = tempfile.mkdtemp(prefix=f"{place.name}.", dir=place.parent)
    try:
        _install(requirements, wheels, fresh, say)
        os.rename(fresh, place)  # whole or not at all
    except OSError:
        if not place.is_dir():  # or another worker was faster
            raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _install(requirements: Sequence[str], wheels: str | None, target: str, say: Callable[[str], None]) -> None:
    source = [] if wheels is None else ["--no-index", "--find-links", wheels]
    command = [*installer.installing(), "--no-deps", "--target", target, *source, *requirements]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=_variables(wheels)) as running:
        lines = []
        for line in running.stdout or ():
            lines.append(line)
            say(line.strip())
    if running.returncode != 0:
        raise Refused(f"{', '.join(requirements)} cannot be laid over what is installed: {installer.last_words(lines)}")


def _variables(wheels: str | None) -> dict[str, str]:
    """With a folder of wheels, without what pip and uv are configured for: they would look in further folders too."""
    inherited = installer.variables()
    if wheels is None:
        return inherited
    kept = {name: value for name, value in inherited.items() if name not in FURTHER_FOLDERS}
    return {**kept, "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1"}


def _installed() -> Iterator[tuple[str, str]]:
    yield from ((name, found.version) for found in importlib.metadata.distributions() if (name := found.metadata["Name"]))


def _distributions(folder: pathlib.Path) -> Iterator[tuple[str, str, list[str]]]:
    for found in importlib.metadata.distributions(path=[str(folder)]):
        yield found.metadata["Name"], found.version, found.requires or []
