"""Arms that are known to compute otherwise than the model asks: whether they did here, whom they may replace, and what is said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from backends.cell import Phase
from backends.deviation import Deviation, showed
from store.decision import Pair
from store.runs.run import Run
from store.scenario import WeightedCell
from tuner.deciding.incumbent import incumbent
from tuner.racing.sieve import measured_trials


@dataclass(frozen=True)
class Deviating:
    """``on``: the cells of ``phase`` that it concerns, those on which it can be seen first. ``seen`` there; None = nobody measured one on
    which it could be."""

    arm: str
    phase: Phase
    deviation: Deviation
    on: tuple[WeightedCell, ...]
    seen: bool | None

    def numbers(self) -> str:
        """ "127 keys where the window has 128, in window layers"."""
        layers = dict.fromkeys(weighted.cell.layer.name for weighted in self.on)
        return f"{self.deviation.in_numbers(self.on[0].cell)}, in {' and '.join(layers)} layers"


def deviating(run: Run, pair: Pair) -> tuple[Deviating, ...]:
    """Whatever is declared of the arms of ``pair`` on the cells of ``run``, guards included."""
    declared = {arm.name: arm.deviations for arm in run.arms}
    sides = ((phase, pair.of(phase)) for phase in run.scenario.engine.role.phases)
    found = (_found(run, phase, arm, one) for phase, arm in sides for one in declared.get(arm, ()))
    return tuple(one for one in found if one.on)


def _found(run: Run, phase: Phase, arm: str, deviation: Deviation) -> Deviating:
    on = [weighted for weighted in run.cells if weighted.cell.phase is phase and deviation.concerns(weighted.cell)]
    on.sort(key=lambda weighted: not deviation.shows_on(weighted.cell))
    trials = measured_trials(run.trials)
    names = [weighted.cell.name for weighted in on if deviation.shows_on(weighted.cell)]
    labels = [trials[arm, name].labels for name in names if (arm, name) in trials]
    seen = any(showed(label) for each in labels for label in each) if labels else None
    return Deviating(arm, phase, deviation, tuple(on), seen)


def changes_answers(run: Run, pair: Pair) -> str | None:
    """Why ``pair`` may not take the place of the default: it deviates where that does not, and the user allows no such change."""
    if run.scenario.engine.allow_deviations:
        return None
    default = incumbent(run)
    served = {_effect(one) for one in deviating(run, default) if one.seen is not False} if default else set()
    for one in deviating(run, pair):
        if one.seen is not False and _effect(one) not in served:
            return f"{one.arm} {one.deviation.says}, which changes answers; with engine.allow_deviations=true it may be pinned"
    return None


def _effect(one: Deviating) -> tuple[object, ...]:
    return one.phase, one.deviation.layers, one.deviation.steps, one.deviation.keys, one.deviation.narrow_sums


def said_of_deviations(run: Run, pair: Pair) -> Iterator[str]:
    """A sentence for each: what deviates, where, by how much, and whether one side of the pair does so alone."""
    found = deviating(run, pair)
    for one in found:
        declared = f"{one.arm} {one.deviation.says} ({one.numbers()}; {one.deviation.source})"
        if one.seen is False:
            yield f"{declared}, as is declared of it: not seen here, its answers are the model's own"
        else:
            doubt = "" if one.seen else ", as is declared of it, though no context measured is long enough to show it"
            yield f"{declared}{doubt}: its answers differ by that from other backends'{_and_the_other_side(run, pair, one, found)}"


def _and_the_other_side(run: Run, pair: Pair, one: Deviating, found: tuple[Deviating, ...]) -> str:
    """Where that sees what the model asks."""
    others = [phase for phase in run.scenario.engine.role.phases if phase is not one.phase]
    if not others or any(each.phase in others and each.seen is not False for each in found):
        return ""
    beside = pair.of(others[0])
    return f" and from {'its own' if beside == one.arm else f'those of {beside}'} in {others[0].value}"
