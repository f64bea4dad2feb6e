"""What a pin rests on, and what of it the changes can touch. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from backends.arm import Arm
from backends.cell import Phase
from backends.environment import Environment
from store.decision import Pair
from store.runs.run import Run
from store.verdicts.verdict import Change
from tuner.pin import arms_on, pairs_under
from tuner.unmeasured.regressions import served_pair

EVERYTHING = "every arm"
MOST_CONTROLS = 2

Seat = tuple[Phase, str]  # of an arm in a phase


@dataclass(frozen=True)
class Resting:
    """``under``: seats that the decision rests on, ``served`` those of them that a server takes; ``touched``: names of arms that
    something which differs can touch, under the pin or not."""

    served: frozenset[Seat]
    under: frozenset[Seat]
    touched: frozenset[str]

    @property
    def in_question(self) -> frozenset[Seat]:
        return frozenset(seat for seat in self.under if seat[1] in self.touched)

    @property
    def rivals(self) -> frozenset[Seat]:
        """In question, and not served: the pin was decided against them."""
        return self.in_question - self.served

    @property
    def at_stake(self) -> frozenset[Seat]:
        """In question, and served."""
        return self.in_question & self.served


def resting(then: Run, here: Environment, changes: Iterable[Change]) -> Resting:
    """Of the decided run ``then`` and what is ``here`` now. Raises ValueError for a run that was not decided: it has no pin."""
    if then.decision is None:
        raise ValueError(f"run {then.id} was not decided and nothing rests on it")
    served = served_pair(then.decision)
    pairs = pairs_under(then.decision)
    return Resting(_seats([served] if served else []), _seats(pairs), touched_arms(then, here, changes))


def touched_arms(then: Run, here: Environment, changes: Iterable[Change]) -> frozenset[str]:
    if any(EVERYTHING in change.touches for change in changes):
        return frozenset(arm.name for arm in then.arms)
    names = {arm.name for arm in then.arms}
    return frozenset(name for moved in differing(then, here) for name in arms_on(then, here, moved) if name in names)


def differing(then: Run, here: Environment) -> tuple[str, ...]:
    """Distributions behind what the run's arms import whose version or content is another one, or that came or went."""
    before, after = ({each.name: (each.version, each.digest) for each in side.distributions} for side in (then.environment, here))
    return tuple(
        name for name in dict.fromkeys((*before, *after)) if before.get(name) != after.get(name) and _behind_an_arm(then, here, name)
    )


def arms_to_measure(then: Run, today: Sequence[Arm], rests: Resting) -> tuple[Arm, ...]:
    """As they are ``today``: all that the pin rests on, and where few of those are untouched, arms beside them that raced longest, as
    controls. One that came out of a search is today's arm of its backend with its own page size and knobs."""
    under = {name for _, name in rests.under}
    others = [arm.name for arm in then.arms if arm.name not in under | rests.touched]
    wanted = MOST_CONTROLS - len(under - rests.touched)
    controls = sorted(others, key=lambda name: -_processes(then, name))[: max(0, wanted)]
    names = under.union(name for name in controls if _processes(then, name))
    return (*(arm for arm in today if arm.name in names), *_turned(then, today, names))


def _turned(then: Run, today: Sequence[Arm], names: Collection[str]) -> Iterator[Arm]:
    there, backends = {arm.name for arm in today}, {(arm.backend, arm.provider): arm for arm in today}
    for arm in then.arms if then.searched else ():
        now = backends.get((arm.backend, arm.provider))
        if now is not None and arm.name in names and arm.name not in there:
            yield replace(arm, driver=now.driver, packages=now.packages, optional=now.optional)


def cells_of(run: Run, phase: Phase) -> tuple[str, ...]:
    return tuple(weighted.cell.name for weighted in run.cells if weighted.cell.phase is phase)


def _seats(pairs: Iterable[Pair]) -> frozenset[Seat]:
    return frozenset((phase, pair.of(phase)) for pair in pairs for phase in Phase)


def _behind_an_arm(then: Run, here: Environment, distribution: str) -> bool:
    names = {arm.name for arm in then.arms}
    return bool(names.intersection(arms_on(then, here, distribution)))


def _processes(run: Run, arm: str) -> int:
    return sum(any(visit.arm == arm for cell in measured.cells for visit in cell.visits) for measured in run.rounds)
