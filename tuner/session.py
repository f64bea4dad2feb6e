"""The machine the arms run on, for the length of one job: its lock, its facts, and fresh workers."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from backends.environment import Environment
from backends.wire import from_plain
from store.scenario import Engine
from tuner.clock import PhaseClock
from tuner.errors import UsageError
from tuner.progress import Progress
from tuner.workers.process import Worker


@dataclass(frozen=True)
class Facts:
    """``busy``: what others had on the device before our first allocation, by NVML's words; None = nothing worth
    mentioning, a text = it cannot be told."""

    environment: Environment
    busy: dict[str, int | None] | str | None


class Session:
    """Holds one light worker (no torch, no device context) that keeps the device's lock until the job ends."""

    def __init__(self, engine: Engine, progress: Progress, clock: PhaseClock, code: bytes | None = None) -> None:
        """``code`` is what workers run: None = `backends` alone, without drivers of third parties."""
        self._engine = engine
        self._code = code
        self.progress = progress
        self.clock = clock
        self._keeper: Worker | None = None

    def __enter__(self) -> Session:
        self.clock.enter("import")
        self._keeper = self.worker()
        self._keeper.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._keeper is not None:
            self._keeper.__exit__(kind, error, trace)

    def worker(self) -> Worker:
        """A worker not yet started; a context manager. Without an ``engine.command`` it runs on this very Python."""
        return Worker(self._engine.command or (sys.executable,), self._engine.path, self._code)

    def facts(self, imports: Iterable[str]) -> Facts:
        """Board, interpreter, and the distributions behind ``imports``, as the keeper sees them."""
        for event in self._ask({"do": "facts", "imports": sorted(set(imports)), "path": self._engine.path}):
            if event["event"] == "facts":
                refuse_missing(event.get("missing", ()))
                return Facts(from_plain(Environment, event["environment"]), event.get("busy"))
        raise RuntimeError("the worker answered a request for facts without facts")

    def lock(self, key: str, owner: str) -> None:
        """Wait for the device's lock, saying for whom; held until the session ends."""
        self.clock.enter("waiting")
        for event in self._ask({"do": "lock", "gpu": key, "owner": owner}):
            if event["event"] == "waiting":
                self.progress.phase(f"waiting for {key}, held by {event['owner']}")
            elif event.get("caution"):
                self.progress.note(event["caution"])
        self.clock.enter("import")

    def _ask(self, message: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if self._keeper is None:
            raise RuntimeError("the session is not open")
        return self._keeper.ask(message)


def refuse_missing(folders: Sequence[str]) -> None:
    """Raises `UsageError` for folders of ``engine.path`` that are not where the worker runs: kernels would be missed silently."""
    if folders:
        raise UsageError(f"engine.path names {folders[0]}, which is no folder where the worker runs; correct it or leave it out")
