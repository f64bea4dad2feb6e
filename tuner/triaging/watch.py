"""The work of schedulers as their log goes by, in little memory however long it is: the last lines whole, those before thinned out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tuner.logs.lines import Line
from tuner.logs.steps import Began, Decoded, Event, Prefill, Retracted

RECENT = 100  # decode lines of a scheduler: some 4000 steps of SGLang, a quarter of an hour of vLLM
MOST_BEFORE = 2048  # kept of all that came before


class Entry(NamedTuple):
    """A decode line of the server's start number ``start``, with what was printed since the one before it."""

    decoded: Decoded
    start: int
    prefills: int
    retracted: int
    line: Line


class Thinned:
    """Of a stream of any length evenly spread members, at most `MOST_BEFORE`: each time there are more every second one goes."""

    def __init__(self) -> None:
        self.kept: list[Entry] = []
        self._stride, self._seen = 1, 0

    def add(self, entry: Entry) -> None:
        if self._seen % self._stride == 0:
            self.kept.append(entry)
        self._seen += 1
        if len(self.kept) > MOST_BEFORE:
            self.kept, self._stride = self.kept[::2], 2 * self._stride


@dataclass
class Scheduler:
    """One rank's, or one replica's."""

    server: str
    recent: deque[Entry] = field(default_factory=deque)
    before: Thinned = field(default_factory=Thinned)
    prefills: int = 0
    retracted: int = 0

    def decoded(self, decoded: Decoded, start: int, line: Line) -> None:
        if self.recent and (len(self.recent) == RECENT or self.recent[-1].start != start):
            self._set_aside(1 if self.recent[-1].start == start else len(self.recent))
        self.recent.append(Entry(decoded, start, self.prefills, self.retracted, line))
        self.prefills, self.retracted = 0, 0

    def _set_aside(self, count: int) -> None:
        for _ in range(count):
            self.before.add(self.recent.popleft())


@dataclass
class Watch:
    """``read`` is the engine's; ``retraction`` the newest line of one."""

    read: Callable[[str], tuple[Event, ...]]
    schedulers: dict[tuple[str, str | None], Scheduler] = field(default_factory=dict)
    starts: dict[str, int] = field(default_factory=dict)
    retraction: Line | None = None

    def seeing(self, lines: Iterable[Line]) -> Iterator[Line]:
        """``lines`` as they are, seen on their way."""
        for line in lines:
            for event in self.read(line.text):
                self._see(event, line)
            yield line

    def _see(self, event: Event, line: Line) -> None:
        if isinstance(event, Began):
            self.starts[line.source] = self.starts.get(line.source, 0) + 1
            return
        scheduler = self.schedulers.setdefault((line.source, line.ranks), Scheduler(line.source))
        if isinstance(event, Decoded):
            scheduler.decoded(event, self.starts.get(line.source, 0), line)
        elif isinstance(event, Prefill):
            scheduler.prefills += 1
        elif isinstance(event, Retracted):
            scheduler.retracted += event.requests
            self.retraction = line

    def now(self) -> list[Entry]:
        """The last lines of every scheduler that printed any since its server's newest start."""
        current = (each for each in self.schedulers.values() if each.recent and each.recent[-1].start == self.starts.get(each.server, 0))
        return [entry for each in current for entry in each.recent]

    def before(self) -> list[tuple[Entry, bool]]:
        """What came before, and whether it was before the newest start."""
        return [
            (entry, entry.start != self.starts.get(each.server, 0))
            for each in self.schedulers.values()
            for entry in (*each.before.kept, *(entry for entry in each.recent if entry.start != self.starts.get(each.server, 0)))
        ]
