"""A pin in the words of a launcher: which form, whether it may be had, and what to be told beside it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion

from reports import wording
from reports.launchers.header import header, unset
from reports.launchers.launcher import ExportError, Launcher, safe
from store.pin import Pin


@dataclass(frozen=True)
class Exported:
    """``text`` is the payload; ``notes`` are sentences for the user, not part of it."""

    text: str
    notes: tuple[str, ...]


def export(pin: Pin, target: str, launchers: Mapping[str, Launcher], as_hint: bool = False) -> Exported:
    """The pin for launcher ``target``. Raises `ExportError` for an unknown target, a flag the launcher has no word for,
    and a pin of another engine: what was timed were that engine's calls, so it is at most a hint, commented out."""
    launcher = launcher_for(target, launchers)
    if as_hint:
        return Exported(hint(pin, launcher), (f"a hint, commented out: measured on {_timed(pin)}",))
    if pin.engine != launcher.engine:
        raise ExportError(
            f"this pin belongs to {_timed(pin)}, and launcher {target} starts {wording.engine(launcher.engine)}; "
            "tune for that engine, or print it commented out with --as-hint"
        )
    return Exported(launcher.render(pin, launcher), notes(pin, launcher))


def launcher_for(target: str, launchers: Mapping[str, Launcher]) -> Launcher:
    if target in launchers:
        return launchers[target]
    near = difflib.get_close_matches(target, launchers, n=3, cutoff=0.5)
    advice = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(launchers)}"
    raise ExportError(f"no launcher is called {target!r}; {advice}")


def notes(pin: Pin, launcher: Launcher) -> tuple[str, ...]:
    """How to use the payload, and what limits it."""
    found = (launcher.note, unset(pin) if not pin.flags else None, _outside_range(pin, launcher))
    return tuple(note for note in found if note)


def _outside_range(pin: Pin, launcher: Launcher) -> str | None:
    if covers(launcher, pin.valid_for.engine_version):
        return None
    written_for = f"{wording.engine(launcher.engine)} {launcher.versions}"
    return f"launcher {launcher.name} was written for {written_for}, this pin is for {_timed(pin)}: see whether its flags still exist"


def covers(launcher: Launcher, version: str) -> bool:
    try:
        return SpecifierSet(launcher.versions).contains(version, prereleases=True)
    except InvalidVersion:
        return False


def hint(pin: Pin, launcher: Launcher) -> str:
    """The pin's own words, every line a comment of the launcher's form."""
    if launcher.comment is None:
        raise ExportError(f"{launcher.name} has no comments to put a hint in; use another launcher")
    reasons = dict(pin.because)
    flags = [f"--{name} {value}{_reason(reasons.get(name))}" for name, value in pin.flags] or [unset(pin)]
    lines = (f"a hint, commented out: measured on {_timed(pin)}", *header(pin), *flags)
    return "".join(f"{launcher.comment} {safe(line)}\n" for line in lines)


def _reason(because: str | None) -> str:
    return f"  ({because})" if because else ""


def _timed(pin: Pin) -> str:
    return f"{wording.engine(pin.engine)} {pin.valid_for.engine_version}"
