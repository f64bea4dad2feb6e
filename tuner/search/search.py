"""The search: every setting worth it is screened beside the default, and the best of each phase go into the race with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import combinations

from backends.arm import Arm
from backends.capability import BackendEntry
from backends.cell import Phase
from backends.reason import Reason
from store.database.connect import Store
from store.plan import Plan
from store.runs.studies import Studies, belongs_to, studies_of
from store.scenario import Exclusion
from store.search import Fate, Search, Searched, Setting, Space, Tried
from tuner.arithmetic.objective import counted
from tuner.device.session import Session
from tuner.engines.lookup import rules_of
from tuner.limiting.knobs import with_knobs
from tuner.new_run import default_arms, stage_of
from tuner.planning.terms import serving_terms
from tuner.search.screen import Screen
from tuner.search.space import base_arms
from tuner.search.study import PhaseStudy

SCREENED = "screen"  # the rule of a backend whose every setting was left behind in the screen


@dataclass(frozen=True)
class Request:
    """``digest`` of the run that the search is for, which names its studies; ``fresh``: another search than one that was interrupted."""

    store: Store
    digest: str
    fresh: bool
    search: Search


def searched(request: Request, plan: Plan, space: Space, session: Session) -> Searched:
    """Try what is still to be tried. Interrupted at any time it goes on where it was: each repetition is told as it comes."""
    with studies_of(request.store) as studies:
        found = _phase_studies(request, plan, space, studies)
        _screen(request.search, plan, space, session, found)
        tried = tuple(each for study in found for each in _with_finalists(study.tried(), request.search.finalists))
    return Searched(request.search, len(space.settings), sum(each.seconds for each in tried), tried, space.unsearched)


def claim(request: Request, plan: Plan, space: Space, run_id: str) -> None:
    """The studies are those of ``run_id`` from now on, and no other run's."""
    with studies_of(request.store) as studies:
        for study in _phase_studies(replace(request, fresh=False), plan, space, studies):
            belongs_to(study.study, run_id)


def _phase_studies(request: Request, plan: Plan, space: Space, studies: Studies) -> list[PhaseStudy]:
    seed, name = plan.scenario.measure.seed, request.digest[:16]
    phases = [phase for phase in plan.scenario.engine.role.phases if phase in _default(plan)]
    return [PhaseStudy(studies, name, request.fresh, phase, space.settings, request.search, seed) for phase in phases]


def _screen(search: Search, plan: Plan, space: Space, session: Session, studies: Iterable[PhaseStudy]) -> None:
    default = _default(plan)
    cells = counted(plan.cells, plan.scenario.decide.objective)
    with ExitStack() as stack:
        screen = stack.enter_context(Screen(session, plan.scenario, stage_of(plan), cells, default, space.settings))
        for study in studies:
            if not any(each.cell.phase is study.phase for each in cells):
                continue
            study.begin(default[study.phase].name)
            while (attempt := study.next()) is not None:
                screen.tried(study, attempt, search.steps)


def _default(plan: Plan) -> dict[Phase, Arm]:
    arms = {arm.name: arm for arm in plan.arms}
    return {phase: arms[name] for phase, name in default_arms(plan.default, plan.arms).items()}


def _with_finalists(tried: tuple[Tried, ...], most: int) -> list[Tried]:
    """The best that came to their end: the default is one of them, and goes into the race whether it is or not."""
    best = [each for each in tried if each.fate is Fate.FINISHED][: most + 1]
    return [replace(each, fate=Fate.FINALIST) if each in best else each for each in tried]


def raced(plan: Plan, entries: Iterable[BackendEntry], space: Space, found: Searched) -> Plan:
    """``plan`` with the finalists, the default and what the user asked for as its arms; the other backends with the screen's reason."""
    finalists = [setting for setting in space.settings if setting.arm.name in _finalists(found)]
    base = set(base_arms(plan))
    added = dict.fromkeys((*(setting.arm for setting in finalists), *_both(plan, finalists)))
    kept = {*_default(plan).values(), *(arm for arm in plan.arms if arm not in base), *added}
    arms = tuple({arm.name: arm for arm in (*plan.arms, *added) if arm in kept}.values())
    barred = tuple(dict.fromkeys(one for terms in plan.terms for one in terms.barred))
    rules, _ = rules_of(plan.scenario).rules_for(plan.scenario.engine.version)
    return replace(
        plan,
        arms=arms,
        exclusions=(*plan.exclusions, *_left_behind(plan, arms, space.settings, found)),
        terms=serving_terms(plan.scenario, entries, rules, arms, barred),
    )


def _finalists(found: Searched) -> set[str]:
    return {each.arm for each in found.tried if each.fate is Fate.FINALIST}


def _both(plan: Plan, finalists: Iterable[Setting]) -> Iterator[Arm]:
    """Of one backend the knobs that are best for prefill with those that are best for decode: a server that runs it in both has all."""
    arms, finalists = {arm.name: arm for arm in plan.arms}, tuple(finalists)
    for one, two in combinations(finalists, 2):
        mine, theirs = dict(one.chosen), dict(two.chosen)
        alone = mine and theirs and set(one.phases).isdisjoint(two.phases)
        if one.base == two.base and alone:
            yield with_knobs(arms[one.base], {**mine, **theirs}.items(), plan.scenario)


def _left_behind(plan: Plan, arms: Iterable[Arm], settings: Iterable[Setting], found: Searched) -> Iterable[Exclusion]:
    racing = {arm.backend for arm in arms}
    for backend in dict.fromkeys(arm.backend for arm in plan.arms if arm.backend not in racing):
        names = {setting.arm.name for setting in settings if setting.arm.backend == backend}
        mine = {each.phase: each for each in reversed(found.tried) if each.arm in names}
        yield Exclusion(backend, None, (_reason(backend, mine, found.search.finalists),))


def _reason(backend: str, best: Mapping[Phase, Tried], finalists: int) -> Reason:
    times = [f"{each.ratio:.2f} times the default's {phase.value} at best" for phase, each in best.items() if each.ratio is not None]
    return Reason(
        rule=SCREENED,
        asked=f"{backend}, screened at {' and '.join(times)}" if times else f"{backend}, which failed in the screen",
        allowed=f"the {finalists} best settings of either phase, and the default",
        remedy="search=none races every backend as it is",
        source="the screen of this run",
    )
