"""pip or uv, where the worker runs: which is there, what it is given, what its last words were."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence

from backends.driver import Refused

LAST_LINES, LONGEST = 3, 300  # of an installer's talk, which end in why it failed; characters
ERROR = "ERROR:"  # how pip begins its lines
UNKNOWN = re.compile(r"==(\S+) \(from versions: (.*)\)")
NEAR = 2  # releases on either side
FAILED, CAUSE, BECAUSE = "error:", "Caused by:", "╰─▶"  # how uv begins its lines
UVS_INDEX = ("UV_DEFAULT_INDEX", "UV_INDEX_URL")  # which pip does not read


def installing() -> list[str]:
    """The words before the options of an installation. Raises `Refused` where neither is there."""
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--python", sys.executable]
    if has_pip():
        return [*_pip(), "install", "--no-input", "--disable-pip-version-check", "--no-compile"]
    raise Refused("neither uv nor pip is there where the worker runs; install one, or give folders with path:DIR")


def listing() -> list[str]:
    """The words before the name of a distribution whose releases pip is to list, which uv cannot; it runs a pip where there is none.

    Raises `Refused` where neither is there.
    """
    options = ["index", "versions", "--disable-pip-version-check", "--no-input", "--pre"]
    if has_pip():
        return [*_pip(), *options]
    if uv := shutil.which("uv"):
        index = next((["--index-url", url] for name in UVS_INDEX if (url := os.environ.get(name))), [])
        return [uv, "tool", "run", "--python", sys.executable, "pip", *options, *index]
    raise Refused("neither pip nor uv is there where the worker runs to ask an index; name the releases with --releases")


def has_pip() -> bool:
    return subprocess.run([*_pip(), "--version"], capture_output=True, check=False).returncode == 0


def variables() -> dict[str, str]:
    """Without the worker's own folders, which are not where anything is installed."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def wheels_in(folder: str) -> list[str]:
    """The names of its files. Raises `Refused` where it is none."""
    if not os.path.isdir(folder):
        raise Refused(f"--wheels {folder} is no folder where the worker runs; give one that holds the wheels there")
    return sorted(os.listdir(folder))


def last_words(lines: Sequence[str]) -> str:
    """Why it failed, from the beginning of that sentence: pip's last error, with the releases nearest to one that is not there; what
    failed and the last of its causes, as uv chains them; or why uv found no solution."""
    said = [line.strip() for line in lines if line.strip()]
    if errors := [line.removeprefix(ERROR).strip() for line in said if line.startswith(ERROR)]:
        return "; ".join([errors[-1][:LONGEST], *_nearest(errors)])
    causes = [line for line in said if line.startswith(CAUSE)]
    if causes and said[-1] == causes[-1]:
        failed = next((line for line in said if line.startswith(FAILED)), FAILED).removeprefix(FAILED)
        return ": ".join(part for part in (failed.strip(), causes[-1].removeprefix(CAUSE).strip()) if part)[:LONGEST]
    if found := next((place for place, line in enumerate(said) if line.startswith(BECAUSE)), None):
        return " ".join(said[found:]).removeprefix(BECAUSE).strip()[:LONGEST]
    return "; ".join(said[-LAST_LINES:])[:LONGEST] or "the installer said nothing"


def _nearest(errors: Sequence[str]) -> Iterator[str]:
    """Of the releases that pip lists beside the one it does not find, oldest first: those next to it."""
    for wanted, listed in (found.groups() for error in errors if (found := UNKNOWN.search(error))):
        offered = sorted(set(listed.split(", ")) - {"none"}, key=lambda each: (_numbers(each), each))
        place = sum(_numbers(each) < _numbers(wanted) for each in offered)
        near = offered[max(0, place - NEAR) : place + NEAR]
        yield f"the nearest offered {'is' if len(near) == 1 else 'are'} {', '.join(near)}" if near else "no release of it is offered"


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def _pip() -> list[str]:
    return [sys.executable, "-m", "pip"]
