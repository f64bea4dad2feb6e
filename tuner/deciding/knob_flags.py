"""The knobs of a pick as a server is told of them: flags, and variables of its environment; and the reason that stands beside each."""

from __future__ import annotations

from backends.arm import Arm, Provider
from backends.cell import Phase
from backends.knob import PAGE_SIZE, is_variable
from reports import numbers
from store.decision import Pair
from store.runs.run import Run
from tuner.deciding.table import Table
from tuner.engines.lookup import choices_of

Named = tuple[tuple[str, str], ...]


def knobs_of(table: Table, pair: Pair) -> dict[str, str]:
    """Of both arms; a pair that could serve has one value of each (`tuner.deciding.pairs`)."""
    arms = [table.arms[pair.of(phase)] for phase in Phase]
    return {name: value for arm in arms if arm.provider is Provider.ENGINE for name, value in arm.knobs if name != PAGE_SIZE}


def knob_flags(table: Table, pair: Pair) -> Named:
    return tuple(sorted((_flag(name), value) for name, value in knobs_of(table, pair).items() if not is_variable(name)))


def knob_variables(table: Table, pair: Pair) -> Named:
    return tuple(sorted((name, value) for name, value in knobs_of(table, pair).items() if is_variable(name)))


def unpinnable(run: Run, table: Table, pair: Pair) -> str | None:
    """Why no server can be told of the knobs of ``pair``: a kernel adapter has some of its own, and a switch is not turned off."""
    choices = choices_of(run.scenario.engine.name)
    for arm in (table.arms[pair.of(phase)] for phase in Phase):
        for name, value in arm.knobs:
            adapter = arm.provider is Provider.KERNEL and arm.knobs != _calls_of(run, arm)
            off = _flag(name) in choices.switches and value != "true"
            written = is_variable(name) or (_flag(name) in choices.options and not off)
            if adapter or (arm.provider is Provider.ENGINE and not written):
                return f"{name}={value} of {arm.name} is none of the settings that a pin can write"
    return None


def _calls_of(run: Run, arm: Arm) -> Named:
    """The knobs by which an adapter calls the library as that release of the engine does: those that all its arms have."""
    return next(each.knobs for each in run.arms if each.backend == arm.backend and each.provider is arm.provider)


def knob_reason(run: Run, table: Table, pair: Pair, name: str) -> str:
    """``name`` as a flag or a variable: what the screen saw of the same backend without any knob."""
    for phase in Phase:
        arm = table.arms[pair.of(phase)]
        factor = _screened(run, arm, phase) if any(name in (_flag(knob), knob) for knob, _ in arm.knobs) else None
        if factor is not None:
            return f"{phase.value}: without its knobs {arm.backend} took {numbers.ratio(factor)} times as long in the screen; raced with it"
    return "the pick was measured with it"


def _screened(run: Run, arm: Arm, phase: Phase) -> float | None:
    """The arm without knobs by ``arm``, each the mean of its repetitions beside the default."""
    plain = f"{arm.backend}/p{arm.page_size}"
    ratios = {each.arm: each.ratio for each in (run.searched.tried if run.searched else ()) if each.phase is phase and each.ratio}
    mine, base = ratios.get(arm.name), ratios.get(plain)
    return base / mine if mine and base else None


def _flag(knob: str) -> str:
    return knob.replace("_", "-")
