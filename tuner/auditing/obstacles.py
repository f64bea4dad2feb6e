"""Why a recorded reason cannot be tested with a plan, before anything is measured."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from backends.cell import Phase
from backends.simulated.world import World
from store.engines.recorded_reason import Expected, ReasonTest
from store.plan import Plan
from store.scenario import NO_DRIVER
from tuner.auditing.cells import does_not_fit, reason_cells
from tuner.budgeting.estimate import timed_cells
from tuner.limits import serves
from tuner.past.recorded_times import first_unrecorded


def obstacle(plan: Plan, test: ReasonTest, world: World | None = None) -> str | None:
    """The first; None where the test can be measured, on the GPU or on ``world`` that stands in for it."""
    return next(chain(_obstacles(plan, test), _unrecorded(plan, test, world)), None)


def served(plan: Plan, test: ReasonTest) -> tuple[Phase, ...]:
    return tuple(phase for phase in test.phases if phase in plan.scenario.engine.role.phases)


def not_served(test: ReasonTest) -> str:
    return f"the reason is about {test.phases[0].value}, which this server does not serve"


def backends_of(test: ReasonTest) -> tuple[str, ...]:
    """Whether answers are wrong is seen of one backend alone."""
    return (test.against,) if test.expected is Expected.WRONG else (test.chosen, test.against)


def _obstacles(plan: Plan, test: ReasonTest) -> Iterator[str]:
    phases = served(plan, test)
    if not phases:
        yield not_served(test)
    groups = {weighted.cell.layer.group for weighted in plan.cells}
    if max(groups, default=0) < test.least_group:
        yield f"the reason is about {test.least_group} query heads or more on one KV head, here they are {max(groups, default=0)}"
    yield from (said for phase in phases for backend in backends_of(test) if (said := _not_an_arm(plan, backend, phase)))
    yield from (said for shape in test.shapes if shape.phase in phases and (said := does_not_fit(plan, shape)))


def _unrecorded(plan: Plan, test: ReasonTest, world: World | None) -> Iterator[str]:
    """What a recording does not tell: it holds the cells that were measured then."""
    arms = [arm for arm in plan.arms if arm.backend in backends_of(test)]
    timed = timed_cells(arms, reason_cells(plan, [test]), plan.exclusions)
    if world is not None and (arm_and_cell := first_unrecorded(world, timed)):
        arm, cell = arm_and_cell
        yield f"not recorded: the recording holds no time of {arm.name} on {cell.name}"


def _not_an_arm(plan: Plan, backend: str, phase: Phase) -> str | None:
    if any(arm.backend == backend and serves(arm, phase, plan.exclusions) for arm in plan.arms):
        return None
    for exclusion in plan.exclusions:
        if exclusion.backend == backend and exclusion.phase in (None, phase.value):
            reason = exclusion.reasons[0]
            if reason.rule == NO_DRIVER:
                return f"attnpin cannot drive {reason.asked}"
            return f"{backend} does not serve {phase.value} here: {reason.asked} is asked, {reason.allowed} is allowed ({reason.source})"
    return f"{backend} is no backend of engine {plan.scenario.engine.name} that was chosen in the backend group"
