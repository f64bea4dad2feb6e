"""The lines that open an exported file: what made it, for which machine and versions, and how to check it again."""

from __future__ import annotations

from backends.simulated.world import is_simulated
from reports import wording
from reports.launchers.launcher import ANY, Launcher
from reports.page import clean
from store.pins.pin import Pin


def header(pin: Pin, launcher: Launcher) -> tuple[str, ...]:
    """Sentences without a comment mark, each on one line."""
    hashes = ", ".join(f"{name} {wording.digest(digest)}" for name, _, digest in pin.valid_for.distributions)
    lines = (
        f"attnpin {pin.tool_version}, run {pin.run}, {pin.created}",
        f"measured on {wording.valid_for(pin)}",
        f"content hashes: {hashes}" if hashes else "",
        f"check again after any change of these{_by(pin)}",
        written_for(launcher),
    )
    return tuple(clean(line).rstrip("\\ ") for line in lines if line)


def _by(pin: Pin) -> str:
    """The command; of a simulated GPU it needs what only the run knows."""
    return "" if is_simulated(pin.valid_for.gpu) else f": {wording.check(pin, typed='')}"


def written_for(launcher: Launcher) -> str:
    """Which releases the launcher's words are of."""
    name = wording.engine(launcher.engine)
    engine = f"{name} {launcher.versions}" if launcher.versions != ANY else f"any {name}"
    engine += f" (read in {launcher.read})" if launcher.read else ""
    return f"--to {launcher.name} was written for {engine}" + (f"; its form read in {launcher.carrier}" if launcher.carrier else "")


def unset(pin: Pin) -> str:
    return f"unset, because {wording.unset(pin.unset)}".rstrip("\\ ")
