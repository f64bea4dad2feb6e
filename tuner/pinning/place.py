"""Whether the pin can be written, asked before anything is measured for it."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

from backends.simulated.world import is_simulated
from store.database.connect import file_of
from store.errors import PinError
from store.file_faults import file_fault
from store.files import destination
from store.pins.pin import Pin
from store.pins.pin_files import files_of, read_pin
from tuner.errors import UsageError


def refuse_unwritable(path: Path, store_url: str, gpu: str) -> None:
    """Raises `UsageError` or `StoreError` when one of the files of a pin for ``gpu`` could not be written at ``path`` (its folders may
    still be missing), or would be written over the database, or over what was measured where ``gpu`` is simulated; `NewerSchema` when a
    pin of a newer attnpin would be lost there."""
    if path.is_dir():
        raise UsageError(f"pin.path={path} is a folder; name a file in it, such as {path / 'pin.yaml'}")
    database = file_of(store_url)
    for file in files_of(path):
        target = destination(file, f"pin.path={path} would write {file}, which")
        if database is not None and target == destination(database, f"store {database}"):
            raise UsageError(f"pin.path={path} would write {file}, which is the database of store.url; choose another path")
        refuse_folder(f"pin.path={path}", target)
    with suppress(PinError):  # anything else there is written anew
        _refuse_made_up(read_pin(path), path, gpu)


def _refuse_made_up(there: Pin, path: Path, gpu: str) -> None:
    measured_on = there.valid_for.gpu
    if is_simulated(gpu) and not is_simulated(measured_on):
        raise UsageError(f"pin.path={path} holds a pin measured on {measured_on}, and one of a {gpu} would replace it; choose another path")


def refuse_folder(asked: str, target: Path) -> None:
    """Raises `UsageError` or `StoreError` where the folders of ``target`` take no file; ``asked`` is what named it, as it was written.

    By trying: permissions bind neither root nor file systems such as /proc, which say yes and take no file.
    """
    folder = next(parent for parent in target.parents if parent.exists())
    if not folder.is_dir():
        raise UsageError(f"{asked} cannot be written: {folder} is no folder; choose another path")
    try:
        tempfile.NamedTemporaryFile(dir=folder, prefix=".attnpin-").close()
    except OSError as error:
        raise file_fault(f"{asked}: a new file in {folder}", error) from error
