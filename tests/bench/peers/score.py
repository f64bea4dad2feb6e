"""What the contestants made of it: how much slower their picks are than the best, how often they change, what they took."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from tests.bench.peers import held, ours
from tests.bench.peers.cells import DEFAULT, FLIPPED
from tests.bench.peers.held import Held
from tests.bench.peers.oracle import Process, Truth, processes_of, truths
from tests.bench.peers.peers import MUCH, NVBENCH, PLAIN, RAISING, TRACED, picks
from tests.bench.peers.rows import Row

TOOLS = (*PLAIN, *TRACED, *NVBENCH)
CLEAR = 0.02  # a gap that a tie must not hide
DRAWS, SEED = 10, 5


@dataclass(frozen=True)
class Share:
    """``seen`` ``of`` so many."""

    seen: int
    of: int

    @property
    def value(self) -> float | None:
        return self.seen / self.of if self.of else None


@dataclass(frozen=True)
class Result:
    """A contestant with its tool's own repetitions (``repeats`` 1) or more of them. ``regrets`` by cell; cells where it timed nothing
    are ``silent``. ``missed``: cells with a clear winner that it did not name, None where it has no ties."""

    name: str
    repeats: int
    regrets: Mapping[str, float]
    silent: tuple[str, ...]
    flips: Share
    missed: Share | None
    held: Held

    @property
    def worst(self) -> float | None:
        return max(self.regrets.values(), default=None)

    @property
    def mean(self) -> float | None:
        return fmean(self.regrets.values()) if self.regrets else None

    @property
    def wrong(self) -> tuple[str, ...]:
        return tuple(cell for cell, regret in self.regrets.items() if regret > MUCH)

    @property
    def is_ours(self) -> bool:
        return self.name in ours.MOST


def results(rows: Sequence[Row]) -> list[Result]:
    """Ours first. Contestants that no process asked are left out."""
    good = [row for row in rows if row.failed is None]
    known = truths(good)
    found = [_of_ours(good, known, profile) for profile in ours.MOST]
    asked = {reading.tool for row in good for reading in row.readings}
    for tool in (*(tool for tool in TOOLS if tool in asked), *sorted(asked - set(TOOLS))):
        raised = max((len(r.us) for row in good if row.index >= RAISING for r in row.readings if r.tool == tool), default=1)
        found += [_of_tool(good, known, tool, repeats) for repeats in dict.fromkeys((1, raised))]
    return [result for result in found if result.regrets or result.silent]


def _of_ours(rows: Sequence[Row], known: Mapping[str, Truth], profile: str) -> Result:
    most, raced = ours.MOST[profile], processes_of(rows, ours.KIND)
    standings = {cell: standing for cell, processes in raced.items() if cell in known and (standing := ours.raced(processes, most))}
    done = {cell: standing for cell, standing in standings.items() if standing.over}
    regrets = {cell: known[cell].regret(standing.pick(default_of(known[cell]))) for cell, standing in done.items()}
    clear = [cell for cell in done if known[cell].gap >= CLEAR]
    missed = Share(sum(len(done[cell].unbeaten) > 1 for cell in clear), len(clear))
    seats = {seat for cell, standing in done.items() for seat in standing_seats(cell, raced[cell], most, standing.processes)}
    flips = _flips(_drawn(raced, most, known))
    silent = tuple(cell for cell in standings if cell not in done)
    return Result(profile, 1, regrets, silent, flips, missed, _groups(rows, lambda mine: held.of_ours(mine, seats)))


def standing_seats(cell: str, processes: Sequence[Process], most: int, count: int) -> Iterable[tuple[str, str, int]]:
    """Who was timed in each of the ``count`` processes that the race took."""
    for index in range(count):
        before = ours.raced(processes[:index], most)
        for arm in before.staying if before else tuple(processes[0]):
            yield cell, arm, index


def default_of(truth: Truth) -> str:
    return next((arm for arm in truth.behind if arm.partition("/")[0] == DEFAULT), truth.best)


def _drawn(raced: Mapping[str, Sequence[Process]], most: int, known: Mapping[str, Truth]) -> dict[str, list[str]]:
    """The picks of `DRAWS` races on processes drawn from those that timed all arms; none where there are too few."""
    rng = random.Random(SEED)
    found = {}
    for cell, processes in raced.items():
        whole = [process for process in processes if len(process) == len(processes[0])]
        if cell in FLIPPED and cell in known and len(whole) > most:
            standings = [ours.raced(rng.sample(whole, most), most) for _ in range(DRAWS)]
            found[cell] = [standing.pick(default_of(known[cell])) for standing in standings if standing]
    return found


def _of_tool(rows: Sequence[Row], known: Mapping[str, Truth], tool: str, repeats: int) -> Result:
    """Where it was right by its own repetitions, more of them are taken to be as right."""
    mine = [pick for pick in picks(rows) if pick.tool == tool and pick.cell in known]
    first = {pick.cell: pick.arm for pick in mine if pick.index == 0}
    if repeats > 1:
        first |= {pick.cell: pick.arm for pick in mine if pick.index >= RAISING}
    regrets = {cell: known[cell].regret(arm) for cell, arm in first.items() if arm is not None and arm in known[cell].behind}
    again: dict[str, list[str]] = {}
    for pick in mine:
        if pick.cell in FLIPPED and pick.index < RAISING and pick.arm is not None:
            again.setdefault(pick.cell, []).append(pick.arm)
    silent = tuple(cell for cell, arm in first.items() if arm is None)
    return Result(tool, repeats, regrets, silent, _flips(again), None, _groups(rows, lambda group: held.of_tool(group, tool, repeats)))


def _flips(found: Mapping[str, Sequence[str]]) -> Share:
    """Picks that are not the usual one of their cell, of all in cells that were picked on more than once."""
    again = [each for each in found.values() if len(each) > 1]
    return Share(sum(len(each) - max(Counter(each).values()) for each in again), sum(map(len, again)))


def _groups(rows: Sequence[Row], spent: Callable[[Sequence[Row]], Held]) -> Held:
    """Both groups, whichever GPU they were measured on."""
    groups = dict.fromkeys(row.group for row in rows)
    return sum((spent([row for row in rows if row.group == group]) for group in groups), Held())
