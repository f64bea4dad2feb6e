"""An executor that runs nothing: what each scenario ends with is written down."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from reports.sweep import ending_json
from store.sweeps.sweep import Ending
from tuner.executors.executor import Done, Say, Task


def decided(name: str, exit_code: int = 0) -> Done:
    """Of a job that came to a decision."""
    ending = Ending(exit_code, f"leave the flags unset for {name}", f"run-{name}", "NVIDIA H200", "keep", (), "", f"pins/{name}/pin.yaml")
    return Done(exit_code, ending_json(ending), "")


@dataclass
class Scripted:
    """``ends``: by a word of the scenario; the others end decided. At a KeyboardInterrupt somebody presses Ctrl-C.
    ``most``: how many ran at once."""

    ends: Mapping[str, Done | BaseException] = field(default_factory=dict)
    places: int = 1
    ran: list[Task] = field(default_factory=list)
    at_work: set[int] = field(default_factory=set)
    most: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)
    meet: threading.Barrier | None = None

    def run(self, task: Task, place: int, say: Say) -> Done:
        assert place not in self.at_work and 0 <= place < self.places
        self.at_work.add(place)
        self.most = max(self.most, len(self.at_work))
        self.ran.append(task)
        say("round 1 of at most 4: timing")
        if self.meet is not None:
            self.meet.wait(20)
        self.at_work.discard(place)
        done = next((end for word, end in self.ends.items() if word in task.overrides), decided(task.name))
        if isinstance(done, Exception):
            raise done
        if isinstance(done, BaseException):
            os.kill(os.getpid(), signal.SIGINT)
            self.stopped.wait(20)
            return Done(130, None, "Interrupted")
        return done

    def interrupt(self) -> None:
        self.stopped.set()
