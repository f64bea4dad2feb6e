"""The worker of the next process, started while the present one measures: it imports meanwhile what its arms need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from backends.arm import Arm
from tuner.errors import UsageError
from tuner.workers.events import Event
from tuner.workers.failure import WorkerFailed
from tuner.workers.process import Worker


class Ahead:
    """At most one worker waits its turn. ``disturbs``: importing opened a context on the device, where another process
    measures; that worker has ended itself, and there should be no other."""

    def __init__(self) -> None:
        self.disturbs = False
        self._worker: Worker | None = None
        self._hushed = False
        self._arms: frozenset[Arm] = frozenset()
        self._answer: Iterator[Event] = iter(())

    def start(self, worker: Worker, arms: Iterable[Arm]) -> None:
        """Start ``worker`` on the imports of ``arms``, in place of one that waits for others, and wait for nothing. One that
        does not start is left out: the next process will, and say why it cannot."""
        wanted = frozenset(arms)
        if self._worker is not None and self._arms == wanted:
            return
        self.end()
        try:
            worker.launch()
        except UsageError:
            return
        self._worker, self._arms = worker, wanted
        self._answer = worker.ask({"do": "import", "arms": tuple(wanted)})
        if self._hushed:
            worker.pause()

    def hush(self, wanted: bool) -> None:
        """Have whoever imports stand still, or go on."""
        self._hushed = wanted
        if self._worker is not None and wanted:
            self._worker.pause()
        elif self._worker is not None:
            self._worker.resume()

    def take(self, arms: Iterable[Arm]) -> Worker | None:
        """The worker that waits, once its imports are done; None where it has imported for others than ``arms``, or failed."""
        if self._worker is None or not self._arms <= frozenset(arms):
            return None
        self.finish()
        worker, self._worker = self._worker, None
        return worker

    def finish(self) -> None:
        """Wait until the imports are done, if a worker is at it; one that fails over them is given up."""
        self.hush(False)
        if self._worker is None:
            return
        try:
            self._worker.__enter__()
            for event in self._answer:
                self.disturbs |= event["event"] == "imported" and bool(event["context"])
        except (UsageError, WorkerFailed):
            self.end()

    def end(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()
