"""One sweep at a time writes an index."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from backends.worker.lock import passing
from store.sweeps.sweep import INDEX
from tuner.progress import Progress

OWNER = "attnpin tune"
ELSEWHERE = "give pin.path another folder to have both at once"


@contextmanager
def alone(folder: Path, progress: Progress) -> Iterator[None]:
    """While inside; a sweep of this machine that writes the one in ``folder`` is waited for as long as it takes."""

    def waiting(owner: str) -> None:
        progress.phase(f"waiting for {folder / INDEX}, which a sweep of {owner} writes", ELSEWHERE)

    key = f"sweep-{hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]}"
    with ExitStack() as stack:
        with suppress(OSError):  # without a place for the lock's file
            stack.enter_context(passing(key, OWNER, waiting))
        yield
