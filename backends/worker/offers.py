"""Which releases of a distribution there are to install where the worker runs: in an index, or in a folder of wheels."""

from __future__ import annotations

import subprocess
from typing import Any

from backends.driver import Refused
from backends.worker import installer

LISTED = "Available versions:"  # before them in what `pip index versions` prints, a comma between two


def offered(distribution: str, wheels: str | None) -> dict[str, Any]:
    """``files`` of the folder ``wheels`` where one is given; else ``versions`` in the index that pip or uv is configured for, those
    that fit this interpreter and were not taken back, pre-releases among them. Raises `Refused` with the reason."""
    if wheels is not None:
        return {"files": installer.wheels_in(wheels)}
    found = subprocess.run([*installer.listing(), distribution], capture_output=True, text=True, check=False, env=installer.variables())
    line = next((line for line in found.stdout.splitlines() if line.startswith(LISTED)), None)
    if found.returncode != 0 or line is None:
        why = installer.last_words(found.stderr.splitlines())
        raise Refused(f"the index does not say which releases of {distribution} there are; name them with --releases ({why})")
    return {"versions": [version.strip() for version in line.removeprefix(LISTED).split(",")]}
