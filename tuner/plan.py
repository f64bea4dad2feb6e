"""The whole plan: what the engine would pick, what would be measured, what not and why, and at what cost. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backends.capability import BackendEntry
from reports.doctor import in_a_sentence
from store.plan import Plan, Server
from store.scenario import Scenario, WeightedCell
from tuner.budgeting.estimate import estimate
from tuner.budgeting.prospect import prospect
from tuner.engines.heard import Consulted, heard
from tuner.engines.lookup import rules_of
from tuner.engines.rules import Settled
from tuner.limiting.idle import without_idle
from tuner.limiting.notes import cost_notes, deviation_notes, lonely_notes, trust_notes
from tuner.limits import Sifted, sift
from tuner.planning.notes import fatal_notes, traffic_notes, worker_notes
from tuner.planning.terms import serving_terms
from tuner.search.space import space_of
from tuner.workload.cells import cells_for
from tuner.workload.guards import guard_cells

if TYPE_CHECKING:
    from store.runs.run import Run
    from tuner.settings import Settings
    from tuner.traffic.trace import Trace

Packages = Mapping[str, str]


def make_plan(settings: Settings, packages: Packages | None = None, consulted: Consulted | None = None) -> Plan:
    """The plan of one request. ``packages``: import names found where the worker runs, with their versions, None for
    a plan without a worker; ``consulted``: the engine itself, None = not asked. The engine's version is the scenario's."""
    plan = plan_of(settings.scenario, settings.entries, packages, consulted, settings.trace, settings.recording)
    if (search := plan.scenario.measure.search) is not None:
        plan = replace(plan, space=space_of(plan, settings.entries, packages, search))
    said = None if settings.budget_s is None else prospect(plan, settings.budget_s)
    wrong = map(in_a_sentence, consulted.findings if consulted else ())
    return replace(plan, notes=(*settings.model_notes, *plan.notes), beforehand=(*wrong, *plan.beforehand, *([said] if said else [])))


def plan_of(
    scenario: Scenario,
    entries: tuple[BackendEntry, ...],
    packages: Packages | None = None,
    consulted: Consulted | None = None,
    trace: Trace | None = None,
    recording: Run | None = None,
) -> Plan:
    """``trace``: requests to be replayed in the place of the scenario's traffic. ``recording``: the run whose times are replayed."""
    found = _found(scenario, entries, packages, consulted, trace, recording)
    scenario, server, settled, sifted, cells = found.scenario, found.server, found.settled, found.sifted, found.cells
    racing = {arm.backend for arm in sifted.arms}
    return Plan(
        scenario=scenario,
        default=settled.default,
        server=server,
        arms=sifted.arms,
        exclusions=sifted.exclusions,
        page_sizes=sifted.page_sizes,
        cells=cells,
        eager=tuple(entry.name for entry in entries if not entry.graph and entry.name in racing),
        estimate=estimate(scenario, server, sifted.arms, cells, sifted.exclusions),
        notes=tuple(_notes(found, packages)),
        beforehand=tuple(_beforehand(found, entries, packages)),
        fatal=(*settled.refusals, *settled.endings, *fatal_notes(scenario, settled.default, sifted)),
        terms=serving_terms(scenario, entries, found.rules, sifted.arms, sifted.barred),
        apart=sifted.apart,
        path=settled.path,
        refused=refused_by(settled, found.unknown_version),
    )


@dataclass(frozen=True)
class _Found:
    """What a plan tells of. ``unknown_version``: the sentence for a release that nobody read the rules of. ``cut``: what of the traffic
    no cell has."""

    scenario: Scenario
    rules: str
    unknown_version: str | None
    settled: Settled
    server: Server
    sifted: Sifted
    cells: tuple[WeightedCell, ...]
    cut: tuple[str, ...]


def _found(
    scenario: Scenario,
    entries: tuple[BackendEntry, ...],
    packages: Packages | None,
    consulted: Consulted | None,
    trace: Trace | None,
    recording: Run | None,
) -> _Found:
    engine = rules_of(scenario)
    rules, unknown_version = engine.rules_for(scenario.engine.version)
    settled = heard(scenario, entries, engine.settled(scenario, entries, rules, packages), consulted)
    page_size = settled.default.page_size
    server = engine.server_for(scenario, rules, page_size)
    if recording is not None and recording.scenario.model.layers != scenario.model.layers:
        recording = None  # it says nothing of another model
    if recording is not None:
        from tuner.past.recorded_times import recorded_guards, recorded_server  # a recording's reader, which other plans need not wait for

        server = recorded_server(recording, server, page_size)
    if trace is not None:
        from tuner.traffic.replay import replayed  # numpy, which other plans need not wait for

        scenario, server = replayed(trace, scenario, server, page_size)
    sifted = sift(scenario, entries, settled.default, packages, server.pool_tokens)
    workload = cells_for(scenario, server, engine.rank_layers(scenario), page_size)
    sifted = without_idle(sifted, workload.cells)
    guards = recorded_guards(recording) if recording else guard_cells(scenario, server, workload.cells, sifted.arms)
    cells, cut = (*workload.cells, *guards.cells), (*workload.notes, *guards.notes)
    return _Found(scenario, rules, unknown_version, settled, server, sifted, cells, cut)


def _notes(found: _Found, packages: Packages | None) -> Iterator[str]:
    """What holds of the run as well."""
    if found.unknown_version:
        yield found.unknown_version
    yield from found.settled.caveats
    yield from traffic_notes(found.scenario, found.server)
    yield from found.cut
    if found.scenario.measure.search is None:  # which may try page sizes
        yield from lonely_notes(found.sifted, dict.fromkeys(weighted.cell.phase for weighted in found.cells))
    yield from cost_notes(found.sifted, measured=True)
    if packages is not None:
        yield from trust_notes(found.sifted)


def _beforehand(found: _Found, entries: Iterable[BackendEntry], packages: Packages | None) -> Iterator[str]:
    """What a run will know better."""
    yield from worker_notes(found.scenario, entries, found.sifted, packages, found.settled.default.asked)
    if packages is None:
        yield from trust_notes(found.sifted)
    yield from cost_notes(found.sifted, measured=False)
    yield from deviation_notes(found.sifted.arms, (weighted.cell for weighted in found.cells))


def refused_by(settled: Settled, unknown_version: str | None) -> str | None:
    """Why the engine would not start, or not stay: by its own word, or by the rules that were read of its very release."""
    asked = settled.default.asked
    own = asked is not None and asked.refusal is not None
    return next(iter((*settled.refusals, *settled.endings)), None) if own or unknown_version is None else None
