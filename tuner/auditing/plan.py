"""What an audit measures: the default, the backends that recorded reasons name, and the cells they name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backends.simulated.world import World
from store.plan import Plan
from store.verdicts.audit import ReasonFound, ReasonVerdict
from tuner.auditing.cells import reason_cells
from tuner.auditing.obstacles import backends_of, obstacle
from tuner.auditing.steps import Steps
from tuner.settings import Settings


def narrowed(settings: Settings, steps: Steps) -> Settings:
    """To the default, what the reasons' tests name, and what the user named beside them."""
    measure = settings.scenario.measure
    named = dict.fromkeys((*measure.backends, *(backend for _, here in steps for backend in backends_of(here.reason.test))))
    return replace(settings, scenario=replace(settings.scenario, measure=replace(measure, backends=tuple(named))))


def blocked(plan: Plan, steps: Steps, world: World | None = None) -> tuple[ReasonFound, ...]:
    """The reasons that cannot be tested with ``plan``. ``world``: what stands in for the GPU."""
    said = ((rule, here, obstacle(plan, here.reason.test, world)) for rule, here in steps)
    return tuple(ReasonFound(rule, here, ReasonVerdict.UNTESTABLE, (), why) for rule, here, why in said if why)


def audited(plan: Plan, steps: Steps, stuck: Sequence[ReasonFound]) -> Plan:
    """``plan`` with the cells of every reason that is not ``stuck``."""
    rules = {found.rule for found in stuck}
    tests = [here.reason.test for rule, here in steps if rule not in rules]
    return replace(plan, cells=(*plan.cells, *reason_cells(plan, tests)))
