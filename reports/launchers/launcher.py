"""A launcher's entry in the configuration, and the words it uses for a pin's flags."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from reports.page import clean
from store.pin import Pin


class ExportError(ValueError):
    """A pin that cannot be written for this launcher; one sentence for the user."""


@dataclass(frozen=True)
class Launcher:
    """``versions``: the engine versions whose flags were read, as pip writes a range. ``flags``: the pin's flag -> the
    launcher's, ``backends``: backend names that differ. ``comment`` starts a comment line, None = the form has none.
    ``note``: how to use what is printed."""

    name: str
    engine: str
    versions: str
    render: Callable[[Pin, Launcher], str]
    flags: Mapping[str, str]
    backends: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    note: str | None = None


@dataclass(frozen=True)
class Flag:
    """One flag in the launcher's words; ``because`` is safe to stand on a comment line of its own."""

    name: str
    value: str
    because: str | None


def flags_of(pin: Pin, launcher: Launcher) -> tuple[Flag, ...]:
    """The pin's flags as ``launcher`` spells them; raises `ExportError` for one it has no word for."""
    reasons = dict(pin.because)
    return tuple(Flag(_name(name, launcher), _value(name, value, launcher), safe(reasons.get(name))) for name, value in pin.flags)


def _name(flag: str, launcher: Launcher) -> str:
    if flag not in launcher.flags:
        raise ExportError(f"launcher {launcher.name} has no word for the pinned flag {flag!r}; it knows {', '.join(launcher.flags)}")
    return launcher.flags[flag]


def _value(flag: str, value: str, launcher: Launcher) -> str:
    return launcher.backends.get(value, value) if flag.endswith("attention-backend") else value


def safe(reason: str | None) -> str | None:
    """A reason that no launcher's format can misread: one line, printable, no trailing backslash, no absolute path."""
    return (clean(reason).rstrip("\\ ") or None) if reason else None
