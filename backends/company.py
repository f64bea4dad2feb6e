"""Others on the device when a process is about to take its first memory there: it waits until they have left.

How long they are waited for, if at all, is the controller's to say: it ends the process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backends.bench import Bench
    from backends.phases import Phases

WAITING = "waiting"  # the phase; its detail is what others have, None while that may still be the process before this one
LOOK_EVERY_S = 2.0
LEAVING_LOOK_S, LEAVING_LOOKS = 0.5, 8  # a process that was ended gives its memory back within these
GIB = 1 << 30


def await_others(bench: Bench, phases: Phases, arm: str | None = None) -> None:
    """Returns at once where nobody is there, or nobody can tell."""
    with phases.of("import", arm):  # of torch, which takes so long that somebody may come meanwhile
        taken_bytes = bench.taken_bytes()
    looks = 0
    while taken_bytes is not None:
        leaving = looks < LEAVING_LOOKS
        with phases.of(WAITING, detail=None if leaving else taken(taken_bytes)):
            bench.rest(LEAVING_LOOK_S if leaving else LOOK_EVERY_S)
            taken_bytes = bench.taken_bytes()
        looks += 1


def taken(memory_bytes: int, load_percent: int | None = None) -> str:
    """What others have of a device, in words."""
    return f"{memory_bytes / GIB:.1f} GiB are taken" + ("" if load_percent is None else f", at {load_percent} % load")
