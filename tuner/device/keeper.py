"""The worker that a job has beside those that measure: it answers questions about its machine, and keeps the device's lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self

from backends.condition import Interest, ServingCondition
from backends.engine_says import EngineSays
from backends.environment import Environment
from backends.wire import from_plain
from backends.worker.lock import passing
from tuner import spans
from tuner.clock import PhaseClock
from tuner.device.host import Host
from tuner.errors import UsageError
from tuner.progress import Progress
from tuner.workers.events import Event
from tuner.workers.process import Worker

NUMBER = 0  # among a command's processes, which are counted from 1
SPARE_S = 10.0  # the worker gives an engine up itself, so that it costs the answer and not the worker


@dataclass(frozen=True)
class Facts:
    """``busy``: what others had on the device before our first allocation, by NVML's words; None = nothing worth
    mentioning, a text = it cannot be told. ``cpus`` may be used there beside ``memory_bytes`` that are free (None = nobody knows)."""

    environment: Environment
    busy: dict[str, int | None] | str | None
    cpus: int = 0
    memory_bytes: int | None = None


class Keeper:
    """A context manager around one light worker (no torch, no device context), which ends with it."""

    def __init__(self, host: Host, progress: Progress, clock: PhaseClock) -> None:
        self.progress = progress
        self.clock = clock
        self.seen: Facts | None = None  # when it was last asked for facts
        self.exclusive = False  # the device lets one process at a time in; known once it was asked for facts
        self._host = host
        self._claimed = ExitStack()
        self._worker: Worker | None = None

    def __enter__(self) -> Self:
        self.clock.enter("import")
        self._worker = self._host.worker()
        self._worker.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._claimed.close()
        if self._worker is not None:
            self._worker.__exit__(kind, error, trace)

    def facts(self, imports: Iterable[str]) -> Facts:
        """Board, interpreter, and the distributions behind ``imports``, as the keeper sees them."""
        simulation = None if self._host.world is None else self._host.world.of_process(NUMBER)
        event = self._answer("facts", do="facts", imports=sorted(set(imports)), path=self._host.engine.path, simulation=simulation)
        refuse_missing(event.get("missing", ()))
        self.exclusive = bool(event.get("exclusive"))
        environment = from_plain(Environment, event["environment"])
        self.seen = Facts(environment, event.get("busy"), event["cpus"], event.get("memory_bytes"))
        return self.seen

    def devices(self) -> tuple[str, ...]:
        """UUIDs of all GPUs that are visible there."""
        return tuple(self._answer("devices", do="devices")["devices"])

    def condition(self, interest: Interest) -> ServingCondition:
        """What the keeper's environment is made of."""
        return from_plain(ServingCondition, self._answer("condition", do="doctor", interest=interest)["condition"])

    def says(self, engine: str, questions: Sequence[Mapping[str, Any]], limit_s: float) -> tuple[EngineSays, ...]:
        """What ``engine`` itself answers to each of ``questions`` (`backends.worker.asking`), in one process beside the keeper."""
        self.progress.phase(f"asking {engine} itself", f"for {spans.words(limit_s)} at most")
        patience = replace(self._host.patience, answering_s=limit_s + SPARE_S, compiling_s=limit_s + SPARE_S)
        event = self._answer("says", do="ask", engine=engine, questions=list(questions), limit_s=limit_s, limits=patience)
        return from_plain(tuple[EngineSays, ...], event["says"])

    def overlay(self, requirements: Sequence[str], wheels: str | None) -> Event:
        """See `backends.worker.overlay.built`, which answers there. Raises `WorkerFailed` with the installer's words."""
        self.progress.phase(f"laying {', '.join(requirements)} over what is installed")
        return self._answer("overlay", do="overlay", requirements=list(requirements), wheels=wheels)

    def offers(self, distribution: str, wheels: str | None) -> Event:
        """See `backends.worker.offers.offered`, which answers there. Raises `WorkerFailed` with the reason."""
        self.progress.phase(f"asking which releases of {distribution} there are")
        return self._answer("offers", do="offers", distribution=distribution, wheels=wheels)

    def lock(self, key: str, owner: str, go_on: Callable[[str], str]) -> bool:
        """Wait for the device's lock, saying for whom; held until the keeper ends. Whether another run had it. ``go_on``, told why
        we wait, says how long that has been, or raises when it has been too long. A simulated device is nobody's: who stores something
        else of it is not waited for."""
        holders: list[str] = []

        def waiting(holder: str) -> None:
            holders.append(holder)
            held = f"held by {holder}"
            self.progress.phase(f"waiting for {key}, {held}", go_on(f"{key} is {held}"))

        self.clock.enter("waiting")
        if self._host.world is not None:
            with suppress(OSError):  # without a place for its file, others are not waited for
                self._claimed.enter_context(nullcontext() if self._host.claim is None else passing(self._host.claim, owner, waiting))
        else:
            for event in self._ask({"do": "lock", "gpu": key, "owner": owner}):
                if event["event"] == "waiting":
                    waiting(event["owner"])
                elif event.get("caution"):
                    self.progress.note(event["caution"])
        self.clock.enter("import")
        return bool(holders)

    def _answer(self, kind: str, **message: Any) -> Event:
        """The one event of ``kind`` that ``message`` is answered with."""
        for event in self._ask(message):
            if event["event"] == kind:
                return event
        raise RuntimeError(f"the worker was asked to {message['do']} and answered without {kind}")

    def _ask(self, message: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if self._worker is None:
            raise RuntimeError("the keeper was not begun")
        return self._worker.ask(message)


def refuse_missing(folders: Sequence[str]) -> None:
    """Raises `UsageError` for folders of ``engine.path`` that are not where the worker runs: kernels would be missed silently."""
    if folders:
        raise UsageError(f"engine.path names {folders[0]}, which is no folder where the worker runs; correct it or leave it out")
