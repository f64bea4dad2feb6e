"""Constraints for pip and uv: every distribution that the pinned and the default arms run on, at the version that was measured.

They have no hashes: pip's --hash is of an archive, and the pin knows the contents of what was installed.
"""

from __future__ import annotations

from collections.abc import Iterator

from packaging.utils import InvalidName, canonicalize_name
from packaging.version import InvalidVersion, Version

from reports.launchers.header import header, unset
from reports.launchers.launcher import Launcher, flags_of
from reports.page import clean
from store.pins.pin import Pin


def render(pin: Pin, launcher: Launcher) -> str:
    flags = [f"--{flag.name} {clean(flag.value)}{f': {flag.because}' if flag.because else ''}" for flag in flags_of(pin, launcher)]
    comments = [f"# {line}" for line in (*header(pin, launcher), *(flags or [unset(pin)]))]
    return "\n".join([*comments, *_constraints(pin)]) + "\n"


def _constraints(pin: Pin) -> Iterator[str]:
    """The engine too, which runs whatever arm was picked. What has no version (a source tree) is named in a comment."""
    versions = {name: version for name, version, _ in pin.valid_for.distributions}
    if pin.valid_for.engine_version is not None:
        versions.setdefault(pin.engine, pin.valid_for.engine_version)
    for name, version in sorted(versions.items()):
        yield f"{name}=={version}" if _holds(name, version) else f"# {clean(f'{name}: {version}')} is no version to hold it at"


def _holds(name: str, version: str) -> bool:
    """Whether an installer reads them as they stand."""
    try:
        canonicalize_name(name, validate=True)
        Version(version)
        return version == version.strip()
    except (InvalidName, InvalidVersion):
        return False
