"""The processors near a GPU: where several GPUs are measured at once, each worker keeps to those of its own."""

from __future__ import annotations

import os
import sys

from backends import nvml

NEAR = "ATTNPIN_NEAR"  # names a GPU by its UUID


def keep_near() -> None:
    """This process, and what it starts, on the processors of that GPU's NUMA node; nothing where none is named, or told by the driver."""
    named = os.environ.get(NEAR)
    device = nvml.device_by_uuid(named) if named else None
    if device is not None:
        keep_to(device.whole().near_processors() or frozenset())


def keep_to(processors: frozenset[int]) -> None:
    """As far as they are allowed to this process; it is left alone where none of them is, or where it may not choose."""
    if ours := processors & frozenset(os.sched_getaffinity(0)):
        try:
            os.sched_setaffinity(0, ours)
        except OSError as error:  # a container may forbid the call
            print(f"this worker is not kept to the processors near its GPU: {error.strerror}", file=sys.stderr)
