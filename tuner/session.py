"""The machine the arms run on, for the length of one job: its lock, its facts, and fresh workers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from backends.arm import Arm
from backends.company import WAITING
from backends.condition import Interest, ServingCondition
from backends.engine_says import EngineSays
from backends.environment import Board, Environment
from backends.outcome import Outcome
from backends.simulated.world import World
from backends.spec import StageSpec
from backends.wire import from_plain
from backends.worker.lock import passing
from backends.worker.near import NEAR
from store.scenario import Engine
from tuner import spans
from tuner.clock import PhaseClock
from tuner.errors import UsageError
from tuner.patience import Company
from tuner.progress import Progress
from tuner.workers.ahead import Ahead
from tuner.workers.failure import Place, WorkerFailed
from tuner.workers.process import Worker

KEEPER = 0  # among a command's processes, which are counted from 1
GIB = 1 << 30
SPARE_S = 10.0  # the worker gives an engine up itself, so that it costs the answer and not the worker
MOST_AHEAD = 3  # processes that import at a time
CPUS_EACH, MEMORY_EACH = 4, 4 * GIB  # importing keeps one or two busy, the measuring process launches with another; with SGLang 2 GiB


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
        variables: Mapping[str, str] | None = None,
        claim: str | None = None,
    ) -> None:
        """``code`` is what workers run: None = `backends` alone, without drivers of third parties. ``ahead``: processes may import
        while the one before them measures. ``world``: what stands in for the GPU. ``variables`` are set for workers.
        ``claim``: names what is stored of a ``world``, so that no two commands store the same at once."""
        self._engine = engine
        self._code = code
        self.progress = progress
        self.clock = clock
        self._keeper: Worker | None = None
        self._at_work: Worker | None = None
        self._ended = False
        self._ahead = Ahead()
        self._may_import_ahead = ahead
        self._room = 0
        self._expected: tuple[tuple[Sequence[Arm], ...], bool] | None = None
        self._partners: tuple[Session, ...] = ()
        self._world = world
        self._variables = dict(variables or {})
        self._claim = claim
        self._claimed = ExitStack()
        self._processes = 0
        self.company = Company("the device")
        self.exclusive = False  # the device lets one process at a time in; known once it was asked for facts

    def __enter__(self) -> Session:
        self.clock.enter("import")
        self._keeper = self._fresh_worker()
        self._keeper.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._claimed.close()
        self._ahead.end()
        if self._keeper is not None:
            self._keeper.__exit__(kind, error, trace)

    def worker(self, arms: Iterable[Arm], others: bool = False) -> Worker:
        """The process that measures ``arms``, a context manager: one that imported ahead for them, else a fresh one.
        Without an ``engine.command`` it runs on this very Python. ``others``: it may have imported for further arms."""
        self._at_work = self._ahead.take(arms, others) or self._fresh_worker()
        if self._ended:
            self._at_work.kill()
            raise WorkerFailed(Outcome.INTERRUPTED, "the session has ended", Place())
        return self._at_work

    def kill(self) -> None:
        """From another thread than its own: end the process that measures, so that who waits for its answer learns that it broke off, those
        that import for the next ones, and begin no other."""
        self._ended = True
        self._ahead.kill()
        if self._at_work is not None:
            self._at_work.kill()

    def share_quiet(self, other: Session) -> None:
        """Where one of the two times, nobody imports for the other. Before either measures."""
        self._partners, other._partners = (*self._partners, other), (*other._partners, self)

    def keep_near(self, device: str) -> None:
        """Processes from now on keep to the processors near the GPU of that UUID, as where others are measured beside it."""
        self._variables[NEAR] = device

    def expect(self, coming: Iterable[Sequence[Arm]], others: bool = False) -> None:
        """The arms of each process after the present one, as far as they are foreseen, the next one first; ``others`` as for `worker`."""
        self._expected = tuple(coming), others

    def import_ahead(self) -> None:
        """Start the processes after the present one, which is at work, on their imports, as many as there is room for.

        Nothing happens unless the request asks for it, on a CPU, where it would take cores from what is measured, with few
        processors or little memory, and once imports opened a context on the device.
        """
        if self._may_import_ahead and self._expected is not None and self._room and not self._ahead.disturbs:
            coming, others = self._expected
            self._ahead.prepare(coming[: self._room], self._fresh_worker, others)
            self._expected = None

    def was_disturbed(self) -> bool:
        """Whether imports that ran beside the process that just ended opened a context on the device; waits for those that never did
        without."""
        before = self._ahead.disturbs
        self._ahead.settle()
        return self._ahead.disturbs and not before

    def awaits_others(self, progress: Mapping[str, Any]) -> bool:
        """Whether the process that says ``progress`` has not begun, since others use the device; shows that it waits.

        Raises `MeasurementInvalid` where they are waited for no longer.
        """
        if progress["phase"] != WAITING:
            self.company.left()
            return False
        self.clock.enter("waiting")
        if others := progress["detail"]:
            self.progress.phase(f"waiting until {self.company.device} is free", f"{others}; {self.company.bear(others)}")
        return True

    def _fresh_worker(self) -> Worker:
        hush = self._hush if self._may_import_ahead else None
        return Worker(self._engine.command or (sys.executable,), self._engine.path, self._code, hush=hush, variables=self._variables)

    def _hush(self, wanted: bool) -> None:
        for each in (self, *self._partners):
            each._ahead.hush(wanted)

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
                self._room = 0 if self._world else room(environment.board, event["cpus"], event.get("memory_bytes"))
                self.exclusive = bool(event.get("exclusive"))
                return Facts(environment, event.get("busy"))
        raise RuntimeError("the worker answered a request for facts without facts")

    def devices(self) -> tuple[str, ...]:
        """UUIDs of all GPUs that are visible there."""
        for event in self._ask({"do": "devices"}):
            if event["event"] == "devices":
                return tuple(event["devices"])
        raise RuntimeError("the worker answered a question about its devices without them")

    def condition(self, interest: Interest) -> ServingCondition:
        """What the keeper's environment is made of."""
        for event in self._ask({"do": "doctor", "interest": interest}):
            if event["event"] == "condition":
                return from_plain(ServingCondition, event["condition"])
        raise RuntimeError("the worker answered a question about its condition without it")

    def says(self, engine: str, questions: Sequence[Mapping[str, Any]], limit_s: float) -> tuple[EngineSays, ...]:
        """What ``engine`` itself answers to each of ``questions`` (`backends.worker.asking`), in one process beside the keeper."""
        self.progress.phase(f"asking {engine} itself", f"for {spans.words(limit_s)} at most")
        patience = dict.fromkeys(("trial_limit_s", "build_limit_s"), limit_s + SPARE_S)
        question = {"do": "ask", "engine": engine, "questions": list(questions), "limit_s": limit_s, "timing": patience}
        for event in self._ask(question):
            if event["event"] == "says":
                return from_plain(tuple[EngineSays, ...], event["says"])
        raise RuntimeError("the worker asked an engine and said nothing of its answer")

    def overlay(self, requirements: Sequence[str], wheels: str | None) -> dict[str, Any]:
        """See `backends.worker.overlay.built`, which answers there. Raises `WorkerFailed` with the installer's words."""
        self.progress.phase(f"laying {', '.join(requirements)} over what is installed")
        for event in self._ask({"do": "overlay", "requirements": list(requirements), "wheels": wheels}):
            if event["event"] == "overlay":
                return event
        raise RuntimeError("the worker built an overlay and did not say where")

    def offers(self, distribution: str, wheels: str | None) -> dict[str, Any]:
        """See `backends.worker.offers.offered`, which answers there. Raises `WorkerFailed` with the reason."""
        self.progress.phase(f"asking which releases of {distribution} there are")
        for event in self._ask({"do": "offers", "distribution": distribution, "wheels": wheels}):
            if event["event"] == "offers":
                return event
        raise RuntimeError("the worker asked for releases and did not say which there are")

    def lock(self, key: str, owner: str, go_on: Callable[[str], str]) -> bool:
        """Wait for the device's lock, saying for whom; held until the session ends. Whether another run had it. ``go_on``, told why
        we wait, says how long that has been, or raises when it has been too long. A simulated device is nobody's: who stores something
        else of it is not waited for."""
        holders: list[str] = []

        def waiting(holder: str) -> None:
            holders.append(holder)
            held = f"held by {holder}"
            self.progress.phase(f"waiting for {key}, {held}", go_on(f"{key} is {held}"))

        self.clock.enter("waiting")
        if self._world is not None:
            with suppress(OSError):  # without a place for its file, others are not waited for
                self._claimed.enter_context(nullcontext() if self._claim is None else passing(self._claim, owner, waiting))
        else:
            for event in self._ask({"do": "lock", "gpu": key, "owner": owner}):
                if event["event"] == "waiting":
                    waiting(event["owner"])
                elif event.get("caution"):
                    self.progress.note(event["caution"])
        self.clock.enter("import")
        return bool(holders)

    def _ask(self, message: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if self._keeper is None:
            raise RuntimeError("the session is not open")
        return self._keeper.ask(message)


def room(board: Board, cpus: int, memory_bytes: int | None) -> int:
    """How many processes may import while another one measures on ``board``, beside so much free memory (None = nobody knows)."""
    if board.kind != "cuda":
        return 0
    return min(MOST_AHEAD, cpus // CPUS_EACH, MOST_AHEAD if memory_bytes is None else memory_bytes // MEMORY_EACH)


def refuse_missing(folders: Sequence[str]) -> None:
    """Raises `UsageError` for folders of ``engine.path`` that are not where the worker runs: kernels would be missed silently."""
    if folders:
        raise UsageError(f"engine.path names {folders[0]}, which is no folder where the worker runs; correct it or leave it out")
