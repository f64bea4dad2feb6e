"""Workers of the next processes, started while the present one is at work: they import meanwhile what their arms need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from backends.arm import Arm
from tuner.errors import UsageError
from tuner.workers.events import Event
from tuner.workers.failure import WorkerFailed
from tuner.workers.process import Worker

Imports = frozenset[str]  # drivers and packages


@dataclass(eq=False)
class Waiting:
    """A worker with the answer to its one question, which may not have come yet."""

    worker: Worker
    imports: Imports
    answer: Iterator[Event]


class Ahead:
    """Workers that wait their turn. ``disturbs``: importing opened a context on the device, where another process
    measures; that worker has ended itself, and there should be no other."""

    def __init__(self) -> None:
        self.disturbs = False
        self._hushed = False
        self._waiting: list[Waiting] = []
        self._harmless: Imports = frozenset()

    def prepare(self, coming: Iterable[Sequence[Arm]], fresh: Callable[[], Worker], others: bool = False) -> None:
        """Have a worker for each of the ``coming`` processes, one that waits already or one from ``fresh``, and wait for nothing. Whom
        none of them can use is ended; ``others`` as for `take`."""
        idle, missing = list(self._waiting), []
        for arms in coming:
            if (found := _best(idle, imports_of(arms), others)) is None:
                missing.append(arms)
            else:
                idle.remove(found)
        for each in idle:
            self._end(each)
        for arms in missing:
            self._start(fresh(), arms)

    def hush(self, wanted: bool) -> None:
        """Have whoever imports stand still, or go on."""
        self._hushed = wanted
        for each in self._waiting:
            if wanted:
                each.worker.pause()
            else:
                each.worker.resume()

    def take(self, arms: Iterable[Arm], others: bool = False) -> Worker | None:
        """A worker that has imported for ``arms`` or some of them, once it is through; None where none waits, or where its imports
        failed. ``others``: it may have imported for further ones."""
        imports = imports_of(arms)
        self.hush(False)
        while (found := _best(self._waiting, imports, others)) is not None:
            self._finish(found)
            if found in self._waiting:
                self._waiting.remove(found)
                return found.worker
        return None

    def settle(self) -> None:
        """Wait for imports of which none like them has been through without touching the device."""
        self.hush(False)
        for each in list(self._waiting):
            if not each.imports <= self._harmless:
                self._finish(each)

    def kill(self) -> None:
        """From another thread: who waits for imports learns that they broke off."""
        for each in tuple(self._waiting):
            each.worker.kill()

    def end(self) -> None:
        for each in list(self._waiting):
            self._end(each)

    def _start(self, worker: Worker, arms: Sequence[Arm]) -> None:
        """One that does not start is left out: the next process will, and say why it cannot."""
        try:
            worker.launch()
        except UsageError:
            return
        self._waiting.append(Waiting(worker, imports_of(arms), worker.ask({"do": "import", "arms": tuple(arms)})))
        if self._hushed:
            worker.pause()

    def _finish(self, each: Waiting) -> None:
        """Wait until its imports are done; one that fails over them is given up."""
        try:
            each.worker.__enter__()
            for event in each.answer:
                if event["event"] == "imported" and event["context"]:
                    self.disturbs = True
            self._harmless |= each.imports
        except (UsageError, WorkerFailed):
            self._end(each)

    def _end(self, each: Waiting) -> None:
        self._waiting.remove(each)
        each.worker.kill()


def imports_of(arms: Iterable[Arm]) -> Imports:
    return frozenset(name for arm in arms for name in (arm.driver, *arm.packages))


def _best(waiting: Iterable[Waiting], imports: Imports, others: bool) -> Waiting | None:
    """Of those that ``imports`` can use the one that has most of them; the earliest of several."""
    fit = [each for each in waiting if each.imports <= imports or (others and each.imports >= imports)]
    return max(fit, key=lambda each: len(each.imports & imports), default=None)
