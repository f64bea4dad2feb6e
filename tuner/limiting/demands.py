"""What is demanded of whichever backend is pinned, beside what its kernels can do, and of which one it may be measured all the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from backends.asked import Asking, Page
from backends.capability import BackendEntry, Judgement
from backends.cell import Phase
from backends.judgement import judge
from backends.model import Model
from backends.reason import Reason
from store.runs.run import DefaultPick
from store.scenario import Exclusion, Scenario
from tuner.engines.lookup import rules_of

REQUIRED = "required_backend"

Reasons = tuple[Reason, ...]


def judged_in_full(
    scenario: Scenario, entry: BackendEntry, default: DefaultPick, ask: Asking, plain: Asking, page: Page
) -> tuple[dict[Phase, Judgement], tuple[Exclusion, ...]]:
    """What is said of ``entry`` in each phase, and the phases in which it is measured and may not be pinned.

    Those are of a backend that ``measure.backends`` names and that only a demand or a feature of the scenario speaks against:
    then what keeping to it costs is a number. ``plain`` asks without the features.
    """
    phases = scenario.engine.role.phases
    asked = {phase: ask(phase, page) for phase in phases}
    judged = {phase: judge(entry.capability, each) for phase, each in asked.items()}
    if not all(judgement.reasons for judgement in judged.values()):
        demands = demands_on(scenario, entry, default, asked[phases[0]].question.packages)
        judged |= {phase: replace(judged[phase], reasons=said) for phase, said in demands.items() if said and not judged[phase].reasons}
    if not shown(scenario, entry, default):
        return judged, ()
    able = {phase: judge(entry.capability, plain(phase, page)) for phase, found in judged.items() if found.reasons}
    barred = {phase: judged[phase].reasons for phase, found in able.items() if not found.reasons}
    return judged | {phase: able[phase] for phase in barred}, _exclusions(entry.name, barred, phases)


def _exclusions(backend: str, barred: Mapping[Phase, Reasons], phases: tuple[Phase, ...]) -> tuple[Exclusion, ...]:
    """One where all phases have the same reasons."""
    if set(barred) == set(phases) and len(set(barred.values())) == 1:
        return (Exclusion(backend, None, barred[phases[0]]),)
    return tuple(Exclusion(backend, phase.value, reasons) for phase, reasons in barred.items())


def demands_on(
    scenario: Scenario, entry: BackendEntry, default: DefaultPick, packages: Mapping[str, str] | None = None
) -> dict[Phase, Reasons]:
    """Why ``entry`` may not be pinned in each phase that is served, although its limits speak for it.

    Of the default nothing is demanded: why its server would not start is said of the whole plan.
    """
    phases = scenario.engine.role.phases
    if entry.name in (default.prefill, default.decode):
        return dict.fromkeys(phases, ())
    required = required_reasons(scenario.model, entry)
    refused = rules_of(scenario).refused(scenario, entry.name, default, packages)
    said = {phase: [one.reasons for one in refused if one.phase in (None, phase.value)] for phase in phases}
    return {phase: (*required, *(reason for reasons in said[phase] for reason in reasons)) for phase in phases}


def required_reasons(model: Model, entry: BackendEntry) -> Reasons:
    """One reason against every backend that is not the model's own."""
    required = model.required_backend
    if required is None or required in (entry.name, *entry.aliases):
        return ()
    return (
        Reason(
            rule=REQUIRED,
            asked=f"model.required_backend={required}",
            allowed=f"{required}, which the model cannot do without",
            remedy="take required_backend out of the model's entry once that no longer holds",
            source="the model's entry, as you gave it",
        ),
    )


def shown(scenario: Scenario, entry: BackendEntry, default: DefaultPick) -> bool:
    """Whether the user asked for its times by name. The default is the incumbent, or nothing."""
    wanted = scenario.measure.backends
    return bool(wanted) and not {entry.name, *entry.aliases}.isdisjoint(wanted) and entry.name not in (default.prefill, default.decode)
