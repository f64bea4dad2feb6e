"""Where the workers of a job run, and what they run there."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from backends.silence import USUAL, SilenceLimits
from backends.simulated.world import World
from store.scenario import Engine
from tuner.workers.process import Worker


@dataclass(frozen=True)
class Host:
    """``code`` is what workers run: None = `backends` alone, without drivers of third parties. ``world``: what stands in for the GPU.
    ``variables`` are set for workers. ``claim``: names what is stored of a ``world``, so that no two commands store the same at once.
    ``patience``: with every process that is begun here."""

    engine: Engine
    code: bytes | None = None
    world: World | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    claim: str | None = None
    patience: SilenceLimits = USUAL

    def worker(self, hush: Callable[[bool], None] | None = None) -> Worker:
        """A fresh one, not started; ``hush`` as there. Without an ``engine.command`` it runs on this very Python."""
        command = self.engine.command or (sys.executable,)
        return Worker(command, self.engine.path, self.code, hush=hush, variables=self.variables, patience=self.patience)
