"""Who is surely not the best: by a wide margin after the first processes, by a t test at the looks, not at all between two looks."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import permutations
from statistics import fmean

from store.decision import Pair
from tuner.arithmetic.objective import attention_error, attention_ms
from tuner.arithmetic.statistics import surely_slower
from tuner.deciding.contest import Contest
from tuner.racing.grounds import Ground, Grounds

ALPHA = 0.01
EARLY = 3  # processes, up to which nothing but a wide margin counts
GROSS_AT_ONCE, GROSS = 0.05, 0.025
GROSS_SIGMAS = 6.0

Beats = Callable[[Sequence[float], Callable[[], float]], bool]  # of differences, and what tells how exact their mean can be
MayBeat = Callable[[Pair, Pair], bool]


@dataclass(frozen=True)
class Defeat:
    """``pair`` takes surely longer than ``by`` on each of ``grounds``; ``mean`` of ln(pair/by) on all of them, over ``processes``."""

    pair: Pair
    by: Pair
    grounds: tuple[Ground, ...]
    mean: float
    processes: int

    @property
    def cells(self) -> Ground:
        return tuple(weighted for ground in self.grounds for weighted in ground)


def defeats(contest: Contest, pairs: Collection[Pair], may_beat: MayBeat, grounds: Grounds, beats: Beats) -> dict[Pair, Defeat]:
    """Who of ``pairs``, all in every process of ``contest``, is beaten by another of them that ``may_beat`` it: each by the rival it is
    furthest behind. For a server that waits for its slowest board one must be behind on each, whichever that is."""
    processes = contest.table.processes

    @cache
    def ln_times(pair: Pair, cells: Ground) -> tuple[float, ...]:
        return tuple(math.log(attention_ms(process, pair, cells)) for process in processes)

    def behind(pair: Pair, rival: Pair, cells: Ground) -> list[float]:
        return [mine - theirs for mine, theirs in zip(ln_times(pair, cells), ln_times(rival, cells))]

    def inexact(pair: Pair, rival: Pair, cells: Ground) -> float:
        return mean_error([attention_error(process, pair, rival, cells) for process in processes])

    def beaten(pair: Pair, rival: Pair, on: Ground) -> bool:
        found = behind(pair, rival, on)
        everywhere = not contest.waits or slower_on_each([process.board for process in processes], found)
        return everywhere and beats(found, partial(inexact, pair, rival, on))

    found: dict[Pair, Defeat] = {}
    for pair, rival in permutations(pairs, 2):
        apart = grounds.get((pair, rival), ())
        if apart and may_beat(rival, pair) and all(beaten(pair, rival, on) for on in apart):
            lost = behind(pair, rival, sum(apart, ()))
            defeat = Defeat(pair, rival, apart, fmean(lost), len(lost))
            found[pair] = max(found.get(pair, defeat), defeat, key=lambda one: one.mean)
    return found


def slower_on_each(boards: Sequence[str | None], found: Sequence[float]) -> bool:
    """Whether the mean difference is above 0 on each board; ``boards`` has that of each process."""
    return all(fmean(one for one, of in zip(found, boards) if of == board) > 0 for board in set(boards))


def while_racing(contest: Contest, rivals: int) -> Beats | None:
    """What counts after as many processes as ``contest`` has; None: nothing does, this is no look."""
    processes = len(contest.table.processes)
    if processes in contest.looks:
        return at_a_look(contest, rivals)
    if not 0 < processes <= EARLY:
        return None
    margin = gross_margin(processes, contest.rules.sigma_floor)
    return lambda found, error: fmean(found) > margin and fmean(found) > GROSS_SIGMAS * error()


def at_a_look(contest: Contest, rivals: int) -> Beats:
    alpha, floor = look_alpha(contest, rivals), contest.rules.sigma_floor
    return lambda found, _: surely_slower(found, alpha, floor)


def look_alpha(contest: Contest, rivals: int) -> float:
    """The error that one comparison may spend at one look."""
    return ALPHA / (len(contest.looks) * max(1, rivals))


def gross_margin(processes: int, sigma_0: float) -> float:
    """In ln: so far behind that no noise explains it."""
    return max(math.log1p(GROSS_AT_ONCE if processes == 1 else GROSS), noise_margin(processes, sigma_0))


def noise_margin(processes: int, sigma_0: float, error: float = 0.0) -> float:
    """In ln: further off than noise brings the mean of so many, of which each by itself tells that it errs by ``error``."""
    return GROSS_SIGMAS * max(sigma_0 / math.sqrt(processes), error)


def mean_error(errors: Sequence[float]) -> float:
    """Of the mean over processes with these ``errors``."""
    return math.hypot(*errors) / len(errors)
