"""The machine the arms run on, for the length of one job: its lock, its facts, and fresh workers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from backends.arm import Arm
from backends.condition import Interest, ServingCondition
from backends.engine_says import EngineSays
from backends.environment import Board, Environment
from backends.simulated.world import World
from backends.spec import StageSpec
from backends.wire import from_plain
from store.scenario import Engine
from tuner.clock import PhaseClock
from tuner.errors import UsageError
from tuner.progress import Progress
from tuner.workers.ahead import Ahead
from tuner.workers.process import Worker

KEEPER = 0  # among a command's processes, which are counted from 1
CPUS_TO_SPARE = 4  # importing keeps one or two busy, the measuring process launches with another


@dataclass(frozen=True)
class Facts:
    """``busy``: what others had on the device before our first allocation, by NVML's words; None = nothing worth
    mentioning, a text = it cannot be told."""

    environment: Environment
    busy: dict[str, int | None] | str | None


class Session:
    """Holds one light worker (no torch, no device context) that keeps the device's lock until the job ends."""

    def __init__(
        self,
        engine: Engine,
        progress: Progress,
        clock: PhaseClock,
        code: bytes | None = None,
        ahead: bool = False,
        world: World | None = None,
    ) -> None:
        """``code`` is what workers run: None = `backends` alone, without drivers of third parties. ``ahead``: a process may
        import while the one before it measures. ``world``: what stands in for the GPU."""
        self._engine = engine
        self._code = code
        self.progress = progress
        self.clock = clock
        self._keeper: Worker | None = None
        self._ahead = Ahead()
        self._may_import_ahead = ahead
        self._has_room = False
        self._expected: tuple[Arm, ...] = ()
        self._world = world
        self._processes = 0

    def __enter__(self) -> Session:
        self.clock.enter("import")
        self._keeper = self._fresh_worker()
        self._keeper.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ahead.end()
        if self._keeper is not None:
            self._keeper.__exit__(kind, error, trace)

    def worker(self, arms: Iterable[Arm]) -> Worker:
        """The process that measures ``arms``, a context manager: the one that imported ahead for them, else a fresh one.
        Without an ``engine.command`` it runs on this very Python."""
        return self._ahead.take(arms) or self._fresh_worker()

    def expect(self, arms: Iterable[Arm]) -> None:
        """The arms that the process after the present one will surely measure; none = nothing to import for it."""
        self._expected = tuple(arms)

    def import_ahead(self) -> None:
        """Start the process after the present one, which has begun to measure, on its imports; at most one waits.

        Nothing happens unless the request asks for it, on a CPU, where it would take cores from what is measured, with few
        processors, and once imports opened a context on the device.
        """
        if self._may_import_ahead and self._expected and self._has_room and not self._ahead.disturbs:
            self._ahead.start(self._fresh_worker(), self._expected)
            self._expected = ()

    def was_disturbed(self) -> bool:
        """Whether the imports that ran beside the process that just ended opened a context on the device; waits for their end."""
        before = self._ahead.disturbs
        self._ahead.finish()
        return self._ahead.disturbs and not before

    def _fresh_worker(self) -> Worker:
        hush = self._ahead.hush if self._may_import_ahead else None
        return Worker(self._engine.command or (sys.executable,), self._engine.path, self._code, hush=hush)

    def staged(self, stage: StageSpec) -> StageSpec:
        """``stage`` as the next process that measures is told of it; asked once a process."""
        self._processes += 1
        return stage if self._world is None else replace(stage, simulation=self._world.of_process(self._processes))

    def facts(self, imports: Iterable[str]) -> Facts:
        """Board, interpreter, and the distributions behind ``imports``, as the keeper sees them."""
        simulation = None if self._world is None else self._world.of_process(KEEPER)
        for event in self._ask({"do": "facts", "imports": sorted(set(imports)), "path": self._engine.path, "simulation": simulation}):
            if event["event"] == "facts":
                refuse_missing(event.get("missing", ()))
                environment = from_plain(Environment, event["environment"])
                self._has_room = self._world is None and has_room(environment.board, event["cpus"])
                return Facts(environment, event.get("busy"))
        raise RuntimeError("the worker answered a request for facts without facts")

    def condition(self, interest: Interest) -> ServingCondition:
        """What the keeper's environment is made of."""
        for event in self._ask({"do": "doctor", "interest": interest}):
            if event["event"] == "condition":
                return from_plain(ServingCondition, event["condition"])
        raise RuntimeError("the worker answered a question about its condition without it")

    def says(self, engine: str, questions: Sequence[Mapping[str, Any]]) -> tuple[EngineSays, ...]:
        """What ``engine`` itself answers to each of ``questions`` (`backends.worker.asking`), in one process beside the keeper."""
        self.progress.phase(f"asking {engine} itself")
        for event in self._ask({"do": "ask", "engine": engine, "questions": list(questions)}):
            if event["event"] == "says":
                return from_plain(tuple[EngineSays, ...], event["says"])
        raise RuntimeError("the worker asked an engine and said nothing of its answer")

    def lock(self, key: str, owner: str, go_on: Callable[[str], str]) -> None:
        """Wait for the device's lock, saying for whom; held until the session ends. ``go_on``, told why we wait, says how
        long that has been, or raises when it has been too long. A simulated device is nobody's."""
        if self._world is not None:
            return
        self.clock.enter("waiting")
        for event in self._ask({"do": "lock", "gpu": key, "owner": owner}):
            if event["event"] == "waiting":
                held = f"held by {event['owner']}"
                self.progress.phase(f"waiting for {key}, {held}", go_on(f"{key} is {held}"))
            elif event.get("caution"):
                self.progress.note(event["caution"])
        self.clock.enter("import")

    def _ask(self, message: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if self._keeper is None:
            raise RuntimeError("the session is not open")
        return self._keeper.ask(message)


def has_room(board: Board, cpus: int) -> bool:
    """Whether a process may import while another one measures on ``board``."""
    return board.kind == "cuda" and cpus >= CPUS_TO_SPARE


def refuse_missing(folders: Sequence[str]) -> None:
    """Raises `UsageError` for folders of ``engine.path`` that are not where the worker runs: kernels would be missed silently."""
    if folders:
        raise UsageError(f"engine.path names {folders[0]}, which is no folder where the worker runs; correct it or leave it out")
