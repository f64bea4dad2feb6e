"""When the reading for a first answer has to end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

READ_BY_S = 6.0  # after the process has started: the rest of ten seconds is for the packages and the answer
AT_LEAST_S = 1.0


def first_answer_due() -> Callable[[], bool]:
    """Whether it is, from now on."""
    deadline = time.monotonic() + max(AT_LEAST_S, READ_BY_S - running_s())
    return lambda: time.monotonic() > deadline


def running_s() -> float:
    """For how long this process has been there; 0 where there is no /proc."""
    try:
        started = Path("/proc/self/stat").read_text(errors="replace").rpartition(") ")[2].split()[19]
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - int(started) / os.sysconf("SC_CLK_TCK"))
    except OSError:
        return 0.0
