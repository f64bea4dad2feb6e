"""What a run says of a recorded reason: how the two backends stand to each other, or why that is not known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from backends.arm import Arm, Provider
from backends.cell import Phase
from store.decision import Interval, Pair
from store.engines.recorded_reason import ReasonTest
from store.runs.run import Run
from store.scenario import WeightedCell
from store.verdicts.audit import Basis, Relation
from tuner.arithmetic.statistics import bonferroni
from tuner.auditing.cells import of_scenario, with_shape
from tuner.deciding.contest import Contest
from tuner.deciding.incumbent import missing, never_an_arm
from tuner.deciding.results import median_us
from tuner.deciding.scores import cell_ratio, objective_ms, ratio
from tuner.racing.sieve import HOPELESS, left_out

Cells = tuple[WeightedCell, ...]
Seen = Relation | str  # a sentence where there is no relation

TOO_FEW = (
    "fewer than two processes timed both, so nothing says how sure a difference is; measure with attnpin audit, in which no arm leaves "
    "early, and measure.processes=4"
)


def seen(run: Run, contest: Contest, test: ReasonTest) -> Iterator[Seen]:
    """For each cell the reason names; for each phase, weighted, where it names none that ``run`` has. One of them is enough for
    the reason to hold, so all of them share the error of one."""
    phases = [phase for phase in test.phases if phase in run.scenario.engine.role.phases]
    asked = {phase: cells_for(run, test, phase) for phase in phases}
    shared = sharing(contest, sum(len(cells) if apart(cells) else 1 for cells in asked.values()))
    for phase, cells in asked.items():
        yield from _in_phase(run, shared, test, phase, cells)


def sharing(contest: Contest, relations: int) -> Contest:
    """``contest`` as each of so many relations is judged in (Bonferroni)."""
    rules = replace(contest.rules, confidence=bonferroni(contest.rules.confidence, relations))
    return replace(contest, rules=rules, confidence=bonferroni(contest.confidence, relations))


def apart(cells: Cells) -> bool:
    """Whether each is judged by itself: those that a reason names weigh nothing."""
    return any(weighted.is_guard for weighted in cells)


def _in_phase(run: Run, contest: Contest, test: ReasonTest, phase: Phase, cells: Cells) -> Iterator[Seen]:
    chosen, against = arm_of(run, test.chosen), arm_of(run, test.against)
    if chosen is None or against is None:
        yield never_an_arm(run, test.chosen if chosen is None else test.against, phase)
    elif apart(cells):
        for weighted in cells:
            yield _on_cell(contest, chosen, against, weighted)
    else:
        yield from _weighted(contest, chosen, against, phase, cells)


def arm_of(run: Run, backend: str) -> Arm | None:
    """At the default's page size before another, the engine's own object before a kernel adapter, without knobs before with."""
    arms = [arm for arm in run.arms if arm.backend == backend]
    other_page = {arm: arm.page_size != run.default.page_size for arm in arms}
    return min(arms, key=lambda arm: (other_page[arm], arm.provider is not Provider.ENGINE, len(arm.knobs), arm.name), default=None)


def cells_for(run: Run, test: ReasonTest, phase: Phase) -> Cells:
    """Those of the shapes that the reason names, where ``run`` has them; else what traffic visits."""
    named = tuple(weighted for shape in test.shapes if shape.phase is phase for weighted in with_shape(run.cells, shape))
    return named or tuple(weighted for weighted in of_scenario(run.cells) if weighted.cell.phase is phase and not weighted.is_guard)


def _on_cell(contest: Contest, chosen: Arm, against: Arm, weighted: WeightedCell) -> Seen:
    cell = weighted.cell
    found = cell_ratio(contest, against.name, chosen.name, cell.name)
    if found is None:
        return _from_probes(contest, chosen, against, weighted)
    base, other = (median_us(contest, arm.name, cell.name) for arm in (chosen, against))
    return Relation(cell.phase, cell.name, chosen.backend, against.backend, base, other, "us", found.estimate, found, Basis.ROUNDS)


def _weighted(contest: Contest, chosen: Arm, against: Arm, phase: Phase, cells: Cells) -> Iterator[Seen]:
    old, new = (Pair(arm.name, arm.name) for arm in (chosen, against))
    found = _ratio(contest, new, old, cells)
    if found is None:
        for weighted in cells:
            yield _from_probes(contest, chosen, against, weighted)
        return
    base, other = (objective_ms(contest, pair, cells) for pair in (old, new))
    where, unit = f"the traffic's {phase.value} cells, per 1000 output tokens", "ms"
    yield Relation(phase, where, chosen.backend, against.backend, base, other, unit, found.estimate, found, Basis.ROUNDS)


def _ratio(contest: Contest, new: Pair, old: Pair, cells: Cells) -> Interval | None:
    """None too where one of the two is served eagerly and the other replays a graph."""
    table = contest.table
    alike = all(table.mode(new.decode, one.cell.name) == table.mode(old.decode, one.cell.name) for one in cells)
    return ratio(contest, new, old, cells) if alike else None


def _from_probes(contest: Contest, chosen: Arm, against: Arm, weighted: WeightedCell) -> Seen:
    """An arm too slow to race is known by its probe: one process, good to far better than the factor it lost by."""
    cell, table = weighted.cell, contest.table
    base, other = (_probe_us(contest, arm, cell.name) for arm in (chosen, against))
    alike = table.mode(chosen.name, cell.name) == table.mode(against.name, cell.name)
    if base is None or other is None or not alike or other <= HOPELESS * base:
        return why_not(contest, (chosen, against), weighted)
    return Relation(cell.phase, cell.name, chosen.backend, against.backend, base, other, "us", other / base, None, Basis.PROBES)


def _probe_us(contest: Contest, arm: Arm, cell: str) -> float | None:
    trial = contest.table.trials.get((arm.name, cell))
    return trial.cost.device_us if trial and trial.cost else None


def why_not(contest: Contest, arms: tuple[Arm, Arm], weighted: WeightedCell) -> str:
    """Why two arms are not compared on a cell: one failed or was left out of the race, or there was one process alone."""
    table, default = contest.table, contest.default
    names = {phase: default.of(phase) for phase in Phase} if default else {}
    for each in left_out(table.arms.values(), table.cells, table.trials.values(), names):
        if each.phase is weighted.cell.phase and each.arm in {arm.name for arm in arms}:
            return str(each)
    found = (missing(table, arm.name, (weighted,)) for arm in arms)
    return next((said for said in found if said), TOO_FEW)
