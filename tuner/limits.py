"""Which backends become arms, in which phases, and why the rest do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import product

from backends.arm import Arm
from backends.asked import Asking, asking
from backends.capability import BackendEntry, DriverEntry, Note
from backends.cell import Phase
from backends.judgement import decided, judge
from backends.pages import apart
from backends.question import Question
from backends.reason import Reason
from store.plan import PageSize, PairExclusion
from store.run import DefaultPick
from store.scenario import NO_DRIVER, NOT_SELECTED, Exclusion, Role, Scenario
from tuner.drivers import driver_for
from tuner.engines.sglang.pages import page_size_with
from tuner.engines.sglang.platforms import default_page_size
from tuner.engines.sglang.questions import question_for


@dataclass(frozen=True)
class Sifted:
    """``arms`` may still be barred from one phase: `serves` reads that from ``exclusions``. ``trusted`` holds the limits that a
    backend is kept in spite of, since nobody knows what they ask for; ``noted`` what a backend that is kept does and must be looked at;
    ``apart`` the pairs that no page size serves."""

    arms: tuple[Arm, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    page_sizes: tuple[PageSize, ...] = ()
    trusted: tuple[Exclusion, ...] = ()
    noted: tuple[tuple[str, Note], ...] = ()
    apart: tuple[PairExclusion, ...] = ()


def sift(
    scenario: Scenario,
    entries: Iterable[BackendEntry],
    default: DefaultPick,
    packages: Mapping[str, str] | None = None,
    pool_tokens: int | None = None,
) -> Sifted:
    """Every entry as an arm, as an exclusion, or (a backend that serves one phase only) as both.

    ``packages`` holds the import names found where the worker runs with their versions, None = nobody has looked;
    ``pool_tokens`` the server's KV slots, None = unknown. The default is measured also where ``measure.backends`` leaves it out.
    """
    entries = tuple(entries)
    page = default_page_size(scenario.gpu)
    question = question_for(scenario, default.rules_version, page, packages=packages, pool_tokens=pool_tokens)
    ask = asking(question)
    sifted = [_sift_one(scenario, entry, default, ask) for entry in entries]
    parts = {field.name: tuple(item for one in sifted for item in getattr(one, field.name)) for field in fields(Sifted)}
    return replace(Sifted(**parts), apart=tuple(_apart(scenario, entries, parts["exclusions"], ask)))


def serves(arm: Arm, phase: Phase, exclusions: Iterable[Exclusion]) -> bool:
    """Whether no exclusion keeps the arm's backend from ``phase``."""
    return not any(exclusion.backend == arm.backend and exclusion.phase in (None, phase.value) for exclusion in exclusions)


def _sift_one(scenario: Scenario, entry: BackendEntry, default: DefaultPick, ask: Asking) -> Sifted:
    page, phases = scenario.engine.page_size or default_page_size(scenario.gpu), scenario.engine.role.phases
    if decided(first := judge(entry.capability, ask(phases[0], page))):
        return Sifted(exclusions=(Exclusion(entry.name, None, first.reasons),))
    tokens = page_size_with(scenario, entry.name, default.rules_version, ask(phases[0], page).question.packages)
    judged = {phase: judge(entry.capability, ask(phase, tokens)) for phase in phases}
    if all(judgement.reasons for judgement in judged.values()):
        return Sifted(exclusions=(_together(entry, [judgement.reasons for judgement in judged.values()]),))
    pages = () if tokens == page else (PageSize(entry.name, scenario.engine.page_size, tokens),)
    some = tuple(Exclusion(entry.name, phase.value, judgement.reasons) for phase, judgement in judged.items() if judgement.reasons)
    doubts = [judgement.doubts for judgement in judged.values()]
    trusted = (_together(entry, doubts),) if any(doubts) else ()
    driver, refusal = _chosen_driver(scenario, entry, default, ask(Phase.DECODE, tokens).question)
    noted = tuple(dict.fromkeys((entry.name, note) for judgement in judged.values() for note in judgement.notes))
    if driver is None:
        chosen = refusal[0].rule != NOT_SELECTED
        return Sifted((), (*some, Exclusion(entry.name, None, refusal)), pages, trusted, noted if chosen else ())
    return Sifted(_arms(entry, driver, default, tokens), some, pages, trusted, noted)


def _together(entry: BackendEntry, found: Iterable[tuple[Reason, ...]]) -> Exclusion:
    return Exclusion(entry.name, None, tuple(dict.fromkeys(reason for reasons in found for reason in reasons)))


def _apart(scenario: Scenario, entries: Iterable[BackendEntry], exclusions: Iterable[Exclusion], ask: Asking) -> Iterator[PairExclusion]:
    """Of the backends that may each serve their phase, whether attnpin can drive them or not."""
    if scenario.engine.role is not Role.UNIFIED:
        return
    barred = {(one.backend, one.phase) for one in exclusions if one.reasons[0].rule not in (NO_DRIVER, NOT_SELECTED)}
    fussy = [entry for entry in entries if any(limit.rule == "page_size" for limit in entry.capability.limits)]
    sides = {phase: [one for one in fussy if barred.isdisjoint({(one.name, None), (one.name, phase.value)})] for phase in Phase}
    for prefill, decode in product(sides[Phase.PREFILL], sides[Phase.DECODE]):
        if prefill is not decode and (reason := apart(prefill, decode, ask)):
            yield PairExclusion(prefill.name, decode.name, reason)


def _chosen_driver(
    scenario: Scenario, entry: BackendEntry, default: DefaultPick, question: Question
) -> tuple[DriverEntry | None, tuple[Reason, ...]]:
    wanted = scenario.measure.backends
    if wanted and {*wanted, default.prefill, default.decode}.isdisjoint({entry.name, *entry.aliases}):
        asked, remedy = f"measure.backends=[{','.join(wanted)}]", f"add {entry.name} to measure.backends"
        return None, (Reason(NOT_SELECTED, asked, "the backends it names, and the default", remedy, "the user's selection"),)
    return driver_for(entry, scenario, question)


def _arms(entry: BackendEntry, driver: DriverEntry, default: DefaultPick, tokens: int) -> tuple[Arm, ...]:
    """One arm at the backend's own page size and, for a backend of the default pair, one at that pair's."""
    of_default = (default.page_size,) if entry.name in (default.prefill, default.decode) else ()
    return tuple(
        Arm(entry.name, driver.provider, driver.driver, page, default.kv_cache_dtype, driver.packages)
        for page in dict.fromkeys((tokens, *of_default))
    )
