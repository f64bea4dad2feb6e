"""Ours: each cell a race by the rules that ship, the engine's default kept where it is not beaten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from store.decision import Pair
from tests.bench.peers.oracle import Process
from tests.bench.statistics.racing import course
from tuner.arithmetic.objective import Process as Timing
from tuner.deciding.scores import objective_ms
from tuner.racing.course import course_of

KIND = "ours"
MOST = {"quick": 4, "gate": 8}  # processes, by profile


@dataclass(frozen=True)
class Standing:
    """``staying``: who the next process times. ``unbeaten``: the best set so far. ``processes`` it took."""

    over: bool
    staying: tuple[str, ...]
    unbeaten: tuple[str, ...]
    leader: str
    processes: int

    def pick(self, default: str) -> str:
        return default if default in self.unbeaten else self.leader


def raced(processes: Sequence[Process], most: int) -> Standing | None:
    """What the rules make of ``processes`` one after the other. None where there are none. A cell with one arm left is decided:
    `attnpin tune` would go on timing its default, for later checks."""
    if not processes:
        return None
    entered = tuple(processes[0])
    start = course(len(entered), most)
    pairs = {arm: Pair(name, name) for arm, name in zip(entered, start.table.arms)}
    seated: list[Timing] = []
    standing, staying = None, entered
    for process in processes[:most]:
        if any(arm not in process for arm in staying):
            return standing  # the other profile had sent somebody away
        ln_us = {(pairs[arm].decode, "cell"): process[arm] for arm in staying}
        seated.append(Timing(len(seated), ln_us, dict.fromkeys(ln_us, 0.0)))
        contest = replace(start, table=replace(start.table, processes=tuple(seated)))
        found = course_of(contest, tuple(pairs.values()))
        staying = tuple(arm for arm in staying if pairs[arm] not in found.out)
        unbeaten = tuple(arm for arm in staying if pairs[arm] in found.in_it(pairs.values()))
        leader = min(unbeaten, key=lambda arm: objective_ms(contest, pairs[arm]))
        standing = Standing(found.over or len(staying) == 1, staying, unbeaten, leader, len(seated))
        if standing.over:
            break
    return standing


def wanted(processes: Sequence[Process]) -> tuple[str, ...]:
    """Whom the next process should time, by either profile; nobody when both are done."""
    standings = [raced(processes, most) for most in MOST.values()]
    going_on = [standing.staying for standing in standings if standing and not standing.over]
    return tuple(arm for arm in processes[0] if any(arm in staying for staying in going_on))
