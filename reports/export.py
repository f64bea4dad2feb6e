"""A pin in the words of a launcher: which form, whether it may be had, and what to be told beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion

from backends.simulated.world import is_simulated
from reports import wording
from reports.launchers.header import header, unset, written_for
from reports.launchers.launcher import ANY, ExportError, Launcher, flags_of, safe, variables_of
from reports.launchers.must_follow import must_follow
from store.pins.pin import Pin

HINT = "a hint, commented out: measured with"


@dataclass(frozen=True)
class Exported:
    """``text`` is the payload; ``notes`` are sentences for the user, not part of it."""

    text: str
    notes: tuple[str, ...]


def export(pin: Pin, launcher: Launcher, as_hint: bool = False) -> Exported:
    """The pin in the launcher's words. Raises `ExportError` for a flag it has no word for, and for a pin of another
    engine or of a simulated GPU: what was timed were that engine's calls, so it is at most a hint, commented out."""
    if as_hint:
        return Exported(hint(pin, launcher), tuple(filter(None, (f"{HINT} {wording.engine_under(pin)}", launcher.hint))))
    if pin.engine != launcher.engine:
        raise ExportError(
            f"this pin belongs to {wording.engine(pin.engine)}, and launcher {launcher.name} starts {wording.engine(launcher.engine)}; "
            f"choose a launcher that starts {wording.engine(pin.engine)}, or print it commented out with --as-hint"
        )
    if is_simulated(pin.valid_for.gpu):
        raise ExportError(
            f"this pin was made on {pin.valid_for.gpu}, which is no GPU that anything could serve on; tune on a real one, "
            "or print it commented out with --as-hint"
        )
    text = launcher.render(pin, launcher)
    return Exported(text, (*_beside(text, pin, launcher), *in_the_environment(text, pin), *notes(pin, launcher)))


def notes(pin: Pin, launcher: Launcher) -> tuple[str, ...]:
    """How to use the payload, what limits it, and what has to follow it."""
    found = (launcher.note, unset(pin) if not pin.flags else None, _outside_range(pin, launcher), *must_follow(pin))
    return tuple(note for note in found if note)


def _beside(text: str, pin: Pin, launcher: Launcher) -> Iterator[str]:
    """Reasons, and which releases the words are of, beside a form that has no place for them: one that does not name the run. And what
    an empty line is, which a shell puts between other words like any other."""
    if not text.strip():
        yield "this pin sets no flag: the line is empty, since nothing is to be added to the server's command"
    if pin.run not in text:
        yield from (f"--{flag.name} {safe(flag.value)}: {flag.because}" for flag in flags_of(pin, launcher) if flag.because)
        yield written_for(launcher)


def in_the_environment(text: str, pin: Pin) -> Iterator[str]:
    """Variables, beside a form that has no place for them: without them another kernel is served than was measured."""
    for each in variables_of(pin):
        if each.name not in text:
            why = f": {each.because}" if each.because else ""
            yield f"the server's environment has to hold {each.name}={each.value}, which is not written here{why}"


def _outside_range(pin: Pin, launcher: Launcher) -> str | None:
    if covers(launcher, pin.valid_for.engine_version):
        return None
    written_for = f"{wording.engine(launcher.engine)} {launcher.versions}"
    made_with = wording.engine_under(pin)
    return f"launcher {launcher.name} was written for {written_for}, this pin was made with {made_with}: see whether yours has its flags"


def covers(launcher: Launcher, version: str | None) -> bool:
    """False also where it is not known which engine will read the flags, if there are any."""
    if launcher.versions == ANY:
        return True
    if version is None:
        return False
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
    flags += [f"{name}={value}{_reason(reasons.get(name))}" for name, value in pin.variables]
    lines = (f"{HINT} {wording.engine_under(pin)}", *header(pin, launcher), *flags)
    return "".join(f"{launcher.comment} {safe(line)}\n" for line in lines)


def _reason(because: str | None) -> str:
    return f"  ({because})" if because else ""
