"""Files that are there whole or not at all, and only where nothing but a file is lost."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from store.errors import Unreachable
from store.file_faults import file_fault

KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
}


def destination(path: Path, called: str | None = None) -> Path:
    """Where writing ``path`` would write, its links followed: a regular file, or nothing yet.

    Raises `StoreError` for anything else, which a file would take the place of; ``called`` is what its sentence begins with.
    """
    target, name = Path(os.path.realpath(path)), called or str(path)
    try:
        kind = stat.S_IFMT(os.stat(target).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return target
    except OSError as error:
        raise file_fault(name, error) from error
    if kind == stat.S_IFREG:
        return target
    found = KINDS.get(kind, "no regular file")
    said = f"leads to {target}, {found}" if path.is_symlink() else f"is {found}"
    raise Unreachable(f"{name} {said}; choose another path")


def write_together(files: Sequence[tuple[Path, bytes]]) -> None:
    """Write all files beside their targets first, then rename them into place in the order given; what was there gives them its mode.

    Until the first rename nothing has changed, so a full disk or a read-only folder leaves what was there. A reader that
    must find them all opens the last one first. Raises `StoreError`.
    """
    targets = [(destination(path), content) for path, content in files]
    temporary = [path.with_name(f".{path.name}.{os.getpid()}.tmp") for path, _ in targets]
    try:
        for (path, content), part in zip(targets, temporary):
            _write(part, [content], path)
        for (path, _), part in zip(targets, temporary):
            _rename(part, path)
    finally:
        for part in temporary:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """One file as `write_together` writes it, without holding it whole in memory. Raises `StoreError`, and what ``pieces`` raise."""
    target = destination(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        _write(part, pieces, target)
        _rename(part, target)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _write(part: Path, pieces: Iterable[bytes], path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)  # of a killed process that had our number
        with part.open("xb") as file:
            file.writelines(pieces)
            with contextlib.suppress(FileNotFoundError):
                os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise file_fault(str(path), error) from error


def _rename(part: Path, path: Path) -> None:
    try:
        part.replace(path)
    except OSError as error:
        raise file_fault(str(path), error) from error
