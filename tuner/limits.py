"""Which backends become arms, in which phases, and why the rest do not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from backends.arm import Arm
from backends.capability import BackendEntry, DriverEntry, reasons
from backends.cell import Phase
from backends.question import Question
from backends.reason import Reason
from store.plan import PageSize
from store.run import DefaultPick
from store.scenario import NOT_SELECTED, Exclusion, Scenario
from tuner.drivers import driver_for
from tuner.engines.sglang_pages import DEFAULT_PAGE_SIZE, effective_page_size
from tuner.engines.sglang_questions import question_for

Barred = Mapping[Phase, tuple[Reason, ...]]


@dataclass(frozen=True)
class Sifted:
    """``arms`` may still be barred from one phase: `serves` reads that from ``exclusions``."""

    arms: tuple[Arm, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    page_sizes: tuple[PageSize, ...] = ()


def sift(scenario: Scenario, entries: Iterable[BackendEntry], default: DefaultPick, packages: Mapping[str, str] | None = None) -> Sifted:
    """Every entry as an arm, as an exclusion, or (a backend that serves one phase only) as both.

    ``packages`` holds the import names found where the worker runs, None = nobody has looked. The default is measured
    also where ``measure.backends`` leaves it out.
    """
    question = question_for(scenario, default.rules_version, DEFAULT_PAGE_SIZE, packages=packages)
    sifted = [_sift_one(scenario, entry, default, question) for entry in entries]
    return Sifted(
        arms=tuple(arm for one in sifted for arm in one.arms),
        exclusions=tuple(exclusion for one in sifted for exclusion in one.exclusions),
        page_sizes=tuple(page for one in sifted for page in one.page_sizes),
    )


def serves(arm: Arm, phase: Phase, exclusions: Iterable[Exclusion]) -> bool:
    """Whether no exclusion keeps the arm's backend from ``phase``."""
    return not any(exclusion.backend == arm.backend and exclusion.phase in (None, phase.value) for exclusion in exclusions)


def _sift_one(scenario: Scenario, entry: BackendEntry, default: DefaultPick, question: Question) -> Sifted:
    tokens = effective_page_size([(entry, Phase.PREFILL), (entry, Phase.DECODE)], question)
    barred = {phase: reasons(entry.capability, replace(question, phase=phase, page_size=tokens)) for phase in Phase}
    if all(barred.values()):
        return Sifted(exclusions=(_barred_from_both(entry, barred),))
    pages = () if tokens == question.page_size else (PageSize(entry.name, scenario.engine.page_size, tokens),)
    some = tuple(Exclusion(entry.name, phase.value, found) for phase, found in barred.items() if found)
    driver, refusal = _chosen_driver(scenario, entry, default, question)
    if driver is None:
        return Sifted(exclusions=(*some, Exclusion(entry.name, None, refusal)), page_sizes=pages)
    return Sifted(_arms(entry, driver, default, tokens), some, pages)


def _barred_from_both(entry: BackendEntry, barred: Barred) -> Exclusion:
    return Exclusion(entry.name, None, tuple(dict.fromkeys(reason for found in barred.values() for reason in found)))


def _chosen_driver(
    scenario: Scenario, entry: BackendEntry, default: DefaultPick, question: Question
) -> tuple[DriverEntry | None, tuple[Reason, ...]]:
    wanted = scenario.measure.backends
    if wanted and {*wanted, default.prefill, default.decode}.isdisjoint({entry.name, *entry.aliases}):
        remedy = f"add {entry.name} to measure.backends"
        return None, (Reason(NOT_SELECTED, entry.name, ", ".join(wanted), remedy, "measure.backends"),)
    return driver_for(entry, scenario, question.packages)


def _arms(entry: BackendEntry, driver: DriverEntry, default: DefaultPick, tokens: int) -> tuple[Arm, ...]:
    """One arm at the backend's own page size and, for a backend of the default pair, one at that pair's."""
    of_default = (default.page_size,) if entry.name in (default.prefill, default.decode) else ()
    return tuple(
        Arm(entry.name, driver.provider, driver.driver, page, default.kv_cache_dtype, driver.packages)
        for page in dict.fromkeys((tokens, *of_default))
    )
