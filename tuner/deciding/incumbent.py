"""The default as incumbent: which pair of arms it is, and why it may not have been measured."""

from __future__ import annotations

from collections.abc import Iterable

from backends.arm import Arm, Provider
from backends.cell import Phase
from backends.outcome import Outcome
from store.decision import Pair
from store.runs.run import Run
from store.scenario import Engine, Exclusion, WeightedCell
from tuner.deciding.table import Table
from tuner.limits import serves


def chosen(engine: Engine, phase: Phase) -> str | None:
    """The user's explicit choice for ``phase`` as it was written ("engine.attention_backend=fa3"); a split key stands first."""
    for key in (f"{phase.value}_attention_backend", "attention_backend"):
        backend = getattr(engine, key)
        if backend is not None:
            return f"engine.{key}={backend}"
    return None


def usual(run: Run) -> Pair:
    """The backends that run without a pin, by the engine's names; the user's explicit choices are already in them."""
    return Pair(run.default.prefill, run.default.decode)


def incumbent(run: Run) -> Pair | None:
    """The arms the server would run by itself; None when there is no such arm."""
    prefill, decode = _arm(run, usual(run).prefill), _arm(run, usual(run).decode)
    return Pair(prefill.name, decode.name) if prefill and decode else None


def _arm(run: Run, backend: str) -> Arm | None:
    """The arm at the default's page size, the engine's own object before a kernel adapter, without knobs before with."""
    arms = [arm for arm in run.arms if arm.backend == backend and arm.page_size == run.default.page_size]
    dtype = run.default.kv_cache_dtype
    return min(arms, key=lambda arm: (arm.kv_dtype != dtype, arm.provider is not Provider.ENGINE, len(arm.knobs), arm.name), default=None)


def unmeasured(run: Run, table: Table) -> str | None:
    """ "incomplete: the default (X) was not measured: reason", or None when it was, on every weighted cell."""
    for phase in Phase:
        weighted = [cell for cell in table.weighted() if cell.cell.phase is phase]
        backend = usual(run).of(phase)
        arm = _arm(run, backend)
        served = arm is not None and serves(arm, phase, run.exclusions)
        reason = missing(table, arm.name, weighted) if arm and served else never_an_arm(run, backend, phase)
        if weighted and reason:
            return f"incomplete: the default ({backend}) was not measured: {reason}"
    pair = incumbent(run)
    if pair is None or table.shared([pair], table.weighted()):
        return None
    return f"incomplete: the default ({pair.prefill}, {pair.decode}) was not measured: no process timed it on every cell"


def never_an_arm(run: Run, backend: str, phase: Phase) -> str:
    """Why the run has no arm of ``backend`` that serves ``phase``."""
    for exclusion in run.exclusions:
        if exclusion.backend == backend and exclusion.phase in (None, phase.value) and exclusion.reasons:
            return _excluded(exclusion)
    selection = run.scenario.measure.backends
    if selection and backend not in selection:
        return f"measure.backends=[{','.join(selection)}] leaves it out"
    return f"the run had no arm of it at page size {run.default.page_size}"


def _excluded(exclusion: Exclusion) -> str:
    reason = exclusion.reasons[0]
    return f"{reason.asked} was asked, {reason.allowed} is allowed ({reason.source}); {reason.remedy}"


def missing(table: Table, arm: str, cells: Iterable[WeightedCell]) -> str | None:
    """The first of ``cells`` that ``arm`` was not measured on, and why."""
    for weighted in cells:
        name = weighted.cell.name
        trial = table.trials.get((arm, name))
        if trial is None:
            return f"{arm} was not tried on {name}"
        if trial.outcome is not Outcome.MEASURED:
            return f"{arm} on {name}: {trial.outcome.value}: {trial.detail}"
        if not table.measured(arm, name):
            return f"no finished process timed {arm} on {name}"
    return None
