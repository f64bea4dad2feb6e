"""When a backend builds its kernels, and whether a request may have to wait for one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Builds(str, Enum):
    """PER_SHAPE alone goes on while requests are served: what it meets depends on their lengths, in every process anew."""

    NEVER = "never"  # they come built with their packages
    FIRST_USE = "first use"  # a bounded set of modules or variants, each kept on disk and built once a machine
    PER_SHAPE = "per shape"


@dataclass(frozen=True)
class ServingJit:
    """``why`` is a clause ("one kernel a ..."), ``source`` file and function."""

    builds: Builds
    why: str
    source: str

    @property
    def stalls_requests(self) -> bool:
        return self.builds is Builds.PER_SHAPE
