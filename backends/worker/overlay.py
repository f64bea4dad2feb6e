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
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from backends.driver import Refused
from backends.worker import home

FOLDER = "overlays"
LAST_LINES = 3  # of an installer's talk, which end in why it failed


def built(requirements: Sequence[str], wheels: str | None, say: Callable[[str], None]) -> dict[str, Any]:
    """``folder`` holding just ``requirements`` ("name==version"), its ``distributions`` as (name, version, what it requires), and
    ``installed``, (name, version) of what they are laid over.

    From the folder ``wheels`` alone where one is given, else from the index that pip or uv is configured for. One that was built
    before is used again. Raises `Refused` with the installer's own words.
    """
    place = home.scratch() / FOLDER / _key(requirements, wheels)
    if not place.is_dir():
        _build(requirements, wheels, place, say)
    return {"folder": str(place), "distributions": sorted(_distributions(place)), "installed": sorted(_installed())}


def _key(requirements: Sequence[str], wheels: str | None) -> str:
    offered = sorted(os.listdir(wheels)) if wheels is not None and os.path.isdir(wheels) else None
    parts = [sorted(requirements), platform.python_version(), platform.machine(), wheels, offered]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _build(requirements: Sequence[str], wheels: str | None, place: pathlib.Path, say: Callable[[str], None]) -> None:
    if wheels is not None and not os.path.isdir(wheels):
        raise Refused(f"--wheels {wheels} is no folder where the worker runs; give one that holds the wheels there")
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
    command = [*_installer(), "--no-deps", "--target", target, *source, *requirements]
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=variables) as installer:
        lines = []
        for line in installer.stdout or ():
            lines.append(line.strip())
            say(line.strip())
    if installer.returncode != 0:
        last = "; ".join(line for line in lines if line)[-300:] if len(lines) < LAST_LINES else "; ".join(lines[-LAST_LINES:])[-300:]
        raise Refused(f"{', '.join(requirements)} cannot be laid over what is installed: {last or 'the installer said nothing'}")


def _installer() -> list[str]:
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--python", sys.executable]
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0:
        return [sys.executable, "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--no-compile"]
    raise Refused("neither uv nor pip is there where the worker runs; install one, or give folders with path:DIR")


def _installed() -> Iterator[tuple[str, str]]:
    yield from ((name, found.version) for found in importlib.metadata.distributions() if (name := found.metadata["Name"]))


def _distributions(folder: pathlib.Path) -> Iterator[tuple[str, str, list[str]]]:
    for found in importlib.metadata.distributions(path=[str(folder)]):
        yield found.metadata["Name"], found.version, found.requires or []
