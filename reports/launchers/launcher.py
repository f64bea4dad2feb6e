"""A launcher's entry in the configuration, and the words it uses for a pin's flags."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from reports.launchers.entries import Entry, Place
from reports.page import clean
from store.pins.pin import Pin

ANY = ">=0"  # engine versions of a launcher that none of the engine's flags stands in


class ExportError(ValueError):
    """A pin that cannot be written for this launcher; one sentence for the user."""


@dataclass(frozen=True)
class Launcher:
    """``versions``: the engine versions whose flags were read, as pip writes a range, or `ANY`. ``flags``: the pin's flag -> the
    launcher's, ``backends``: backend names that differ. ``comment`` starts a comment line, None = the form has none. ``note``: how to
    use what is printed; ``hint``: how the form is read where all of it is comments. ``places``: where its flags stand in a YAML file of
    the user's, none = it is no YAML; ``entries``: what stands there, where that is more than the flags. ``read``: the releases whose
    source the flags were read in, ``carrier``: what the form was read in; ``switches``: the pin's flags that take no value."""

    name: str
    engine: str
    versions: str
    render: Callable[[Pin, Launcher], str]
    flags: Mapping[str, str]
    backends: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    note: str | None = None
    hint: str | None = None
    places: tuple[Place, ...] = ()
    entries: Callable[[Pin, Launcher], tuple[Entry, ...]] | None = None
    read: str | None = None
    carrier: str | None = None
    switches: tuple[str, ...] = ()


@dataclass(frozen=True)
class Flag:
    """One flag in the launcher's words; ``because`` is safe to stand on a comment line of its own. ``switch``: it stands alone."""

    name: str
    value: str
    because: str | None
    switch: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        return (f"--{self.name}",) if self.switch else (f"--{self.name}", self.value)


def flags_of(pin: Pin, launcher: Launcher) -> tuple[Flag, ...]:
    """The pin's flags as ``launcher`` spells them; raises `ExportError` for one it has no word for."""
    reasons = dict(pin.because)
    return tuple(
        Flag(_name(name, launcher), _value(name, value, launcher), safe(reasons.get(name)), name in launcher.switches)
        for name, value in pin.flags
    )


def variables_of(pin: Pin) -> tuple[Flag, ...]:
    """What has to stand in the server's environment beside the flags, as name and value."""
    reasons = dict(pin.because)
    return tuple(Flag(name, value, safe(reasons.get(name))) for name, value in pin.variables)


def entries_of(pin: Pin, launcher: Launcher) -> tuple[Entry, ...]:
    """What stands of the pin in a file of the launcher's. Raises as `flags_of`."""
    if launcher.entries is not None:
        return launcher.entries(pin, launcher)
    return tuple(Entry(tuple(flag.name.split(".")), flag.switch or flag.value, flag.because) for flag in flags_of(pin, launcher))


def _name(flag: str, launcher: Launcher) -> str:
    if flag not in launcher.flags:
        raise ExportError(f"launcher {launcher.name} has no word for the pinned flag {flag!r}; it knows {', '.join(launcher.flags)}")
    return launcher.flags[flag]


def _value(flag: str, value: str, launcher: Launcher) -> str:
    return launcher.backends.get(value, value) if flag.endswith("attention-backend") else value


def safe(reason: str | None) -> str | None:
    """A reason that no launcher's format can misread: one line, printable, no trailing backslash, no absolute path."""
    return (clean(reason).rstrip("\\ ") or None) if reason else None
