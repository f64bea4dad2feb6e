"""This machine: one GPU at a time, or every visible one, each with the processors near it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tuner.executors.child import Children
from tuner.executors.executor import Done, Say, Task, arguments_of
from tuner.executors.nursery import Nursery


@dataclass
class Local:
    """``devices``: UUIDs of the GPUs that may be busy at the same time; none = whichever comes first, alone."""

    devices: Sequence[str] = ()
    children: Children = field(default_factory=Children)
    nursery: Nursery = field(default_factory=Nursery)

    @property
    def places(self) -> int:
        return max(1, len(self.devices))

    def run(self, task: Task, place: int, say: Say) -> Done:
        more = [f"executor.device={self.devices[place]}"] if self.devices else []
        return self.children.hear(lambda: self.nursery.begin(arguments_of(task, more)), say)

    def interrupt(self) -> None:
        self.children.interrupt()
