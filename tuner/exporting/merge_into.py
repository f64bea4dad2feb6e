"""`attnpin export --merge FILE`: a pin's flags into a YAML file that is there already."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import unified_diff
from io import StringIO
from pathlib import Path

from reports.export import Exported, export, in_the_environment
from reports.launchers.launcher import Launcher
from reports.merging.errors import MergeError
from reports.merging.merge import Merged, merge
from store.errors import NewerSchema, PinError
from store.files import destination, write_together
from store.pins.pin import Pin
from store.pins.pin_yaml import pin_of
from tuner.errors import UsageError

BACKEND = "attention-backend"  # the end of each flag that names one


def merge_into(file: Path, pin: Pin, launcher: Launcher, at: Sequence[str], replace: bool) -> Exported:
    """The difference it made, "" where it made none and nothing was written. Raises `UsageError`, with the file as it was; `ExportError`
    for a pin that cannot be exported at all; `StoreError`."""
    notes = [note for note in export(pin, launcher).notes if note != launcher.note]  # which says how to use a text of its own
    bom, before = _read(file)
    _refuse_pin(file, before)
    try:
        merged = merge(before, pin, launcher, at, replace)
    except MergeError as error:
        raise UsageError(f"{file} {error}") from None
    _refuse_unwanted(file, pin, merged)
    if merged.text != before:
        write_together([(file, bom + merged.text.encode())])
    notes = list(dict.fromkeys((*notes, *in_the_environment(merged.text, pin))))
    return Exported(difference(file.name, before, merged.text), (*notes, *_said(file, pin, before, merged)))


def mergeable(launcher: Launcher, launchers: Sequence[Launcher]) -> None:
    """Raises `UsageError` for a form that is no YAML."""
    if not launcher.places:
        able = ", ".join(each.name for each in launchers if each.places)
        raise UsageError(f"--merge edits YAML, which launcher {launcher.name} does not write; those that do: {able}")


def difference(name: str, before: str, after: str) -> str:
    """As a patch."""
    old, new = (list(StringIO(text, newline="\n")) for text in (before, after))  # other ends than \n are characters of a line to patch
    return "".join(_lines(unified_diff(old, new, f"a/{name}", f"b/{name}")))


def _lines(patch: Iterator[str]) -> Iterator[str]:
    for line in patch:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _refuse_unwanted(file: Path, pin: Pin, merged: Merged) -> None:
    """A backend named where the pin says that none is to be: taking out what is the user's own is left to the user."""
    named = [f"{name}: {value}" for name, value in merged.strangers if name.endswith(BACKEND)]
    if named and not pin.flags:
        raise UsageError(
            f"{file} sets {', '.join(named)}, which attnpin did not write, and the pin sets no backend; take that out, nothing was written"
        )


def _said(file: Path, pin: Pin, before: str, merged: Merged) -> Iterator[str]:
    if merged.text == before:
        yield f"{file} has it already; nothing was written" if pin.flags else f"the pin sets nothing, and nothing was written to {file}"
    for change in merged.changes:
        if change.after is None:
            yield f"took out {change.key}: {change.before}, which attnpin had set and the pin does not"
        elif change.before not in (None, change.after):
            yield f"{change.key} was {change.before} and is {change.after}"
    for name, value in merged.strangers:
        yield f"{name}: {value} in {file} is neither attnpin's nor the pin's: it stays, and what is served is not what was measured"


def _refuse_pin(file: Path, text: str) -> None:
    with suppress(PinError, NewerSchema):  # the latter too: a recipe of srt-slurm has a schema of its own
        pin_of(text, file.name)
        raise UsageError(f"--merge {file}: that is a pin, which attnpin tune writes; name the file that the server is started with")


def _read(file: Path) -> tuple[bytes, str]:
    """A byte order mark, which is no character of the first line, and the text behind it."""
    try:
        content = destination(file, f"--merge {file}").read_bytes()
        bom = BOM_UTF8 if content.startswith(BOM_UTF8) else b""
        return bom, content.removeprefix(bom).decode()
    except FileNotFoundError:
        raise UsageError(f"--merge {file}: there is no such file; without --merge the text can be written to one") from None
    except OSError as error:
        raise UsageError(f"--merge {file}: it cannot be read ({error.strerror}); name a file that can") from None
    except UnicodeDecodeError:
        raise UsageError(f"--merge {file}: it is no UTF-8 text; name a YAML file") from None
