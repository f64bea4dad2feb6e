"""Which backends become arms, in which phases, and why the rest do not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from typing import NamedTuple

from backends.arm import Arm, Provider
from backends.asked import Asking, asking
from backends.capability import BackendEntry, DriverEntry, Note
from backends.cell import Phase
from backends.deviation import Deviation
from backends.judgement import rules_out
from backends.question import Question
from backends.reason import Reason
from store.plan import PageSize, PairExclusion
from store.runs.run import DefaultPick
from store.scenario import NOT_SELECTED, Exclusion, Scenario
from tuner.engines.lookup import rules_of
from tuner.limiting.arms import arms_of
from tuner.limiting.demands import judged_in_full, shown
from tuner.limiting.drivers import driver_for, gaps
from tuner.limiting.pairs_apart import pairs_apart


@dataclass(frozen=True)
class Sifted:
    """``arms`` may still be barred from one phase: `serves` reads that from ``exclusions``. ``trusted`` holds the limits that a
    backend is kept in spite of, since nobody knows what they ask for; ``noted`` what a backend that is kept does and must be looked at;
    ``apart`` the pairs that no page size serves; ``barred`` the arms that are measured and may not be pinned."""

    arms: tuple[Arm, ...]
    page_sizes: tuple[PageSize, ...]
    trusted: tuple[Exclusion, ...]
    noted: tuple[tuple[str, Note], ...]
    barred: tuple[Exclusion, ...]
    apart: tuple[PairExclusion, ...]
    why: Callable[[], Iterable[Exclusion]] = field(repr=False, compare=False)

    @cached_property
    def exclusions(self) -> tuple[Exclusion, ...]:
        """Written when they are asked for: who sifts a fleet wants the arms."""
        return tuple(self.why())


class One(NamedTuple):
    """Of one backend what `Sifted` has of all."""

    arms: tuple[Arm, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    page_sizes: tuple[PageSize, ...] = ()
    trusted: tuple[Exclusion, ...] = ()
    noted: tuple[tuple[str, Note], ...] = ()
    barred: tuple[Exclusion, ...] = ()


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
    entries, named = tuple(entries), bool(scenario.measure.backends)
    question = question_of(scenario, default, packages, pool_tokens)
    ask = asking(question)
    plain = asking(replace(question, features=())) if named and question.features else ask
    rules = rules_of(scenario)
    sift_one = partial(_sift_one, scenario, default, ask, plain, rules.page_sizes(scenario, default.rules_version, packages))
    first = ask(Phase.DECODE, rules.default_page_size(scenario.gpu))
    left = [entry for entry in entries if (named and shown(scenario, entry, default)) or not rules_out(entry.capability, first)]
    ones = {entry.name: sift_one(entry) for entry in left}
    of_all = _merged(ones.values())
    return Sifted(
        *(of_all.arms, of_all.page_sizes, of_all.trusted, of_all.noted, of_all.barred),
        apart=tuple(pairs_apart(scenario, left, (*of_all.exclusions, *of_all.barred), ask)),
        why=lambda: chain.from_iterable((ones.get(entry.name) or sift_one(entry)).exclusions for entry in entries),
    )


def question_of(scenario: Scenario, default: DefaultPick, packages: Mapping[str, str] | None, pool_tokens: int | None) -> Question:
    """What every backend is asked; phase and page size are whoever's who asks."""
    rules = rules_of(scenario)
    page = rules.default_page_size(scenario.gpu)
    question = rules.question_for(scenario, default.rules_version, page, packages=packages, pool_tokens=pool_tokens)
    if default.asked is not None and default.asked.resolved:
        return replace(question, kv_dtype=default.kv_cache_dtype)  # the engine's own word
    return question


def _merged(ones: Iterable[One]) -> One:
    return One(*(tuple(chain.from_iterable(parts)) for parts in zip(*ones, strict=True)))


def serves(arm: Arm, phase: Phase, exclusions: Iterable[Exclusion]) -> bool:
    """Whether no exclusion keeps the arm's backend from ``phase``."""
    return not any(exclusion.backend == arm.backend and exclusion.phase in (None, phase.value) for exclusion in exclusions)


def _sift_one(
    scenario: Scenario, default: DefaultPick, ask: Asking, plain: Asking, page_of: Callable[[BackendEntry], int], entry: BackendEntry
) -> One:
    judged, barred = judged_in_full(scenario, entry, default, ask, plain, partial(page_of, entry))
    if all(judgement.reasons for judgement in judged.values()):
        return One(exclusions=(_together(entry, [judgement.reasons for judgement in judged.values()]),))
    question, tokens = ask(Phase.DECODE, 0).question, page_of(entry)
    pages = () if tokens == question.page_size else (PageSize(entry.name, scenario.engine.page_size, tokens),)
    some = tuple(Exclusion(entry.name, phase.value, judgement.reasons) for phase, judgement in judged.items() if judgement.reasons)
    served = [phase for phase, judgement in judged.items() if not judgement.reasons]
    doubts = [judgement.doubts for judgement in judged.values()]
    trusted = (_together(entry, doubts),) if any(doubts) else ()
    driver, refusal = _chosen_driver(scenario, entry, default, question)
    noted = tuple(dict.fromkeys((entry.name, note) for judgement in judged.values() for note in judgement.notes))
    if driver is None:
        chosen = refusal[0].rule != NOT_SELECTED
        return One((), (*some, Exclusion(entry.name, None, refusal)), pages, trusted, noted if chosen else ())
    arms = arms_of(entry, driver, scenario, default, tokens)
    known = tuple(dict.fromkeys(deviation for judgement in judged.values() for deviation in judgement.deviations))
    undriven = tuple(Exclusion(entry.name, phase.value, why) for phase, why in gaps(entry, driver, question).items() if phase in served)
    return One(tuple(dict.fromkeys(_declared(arm, known) for arm in arms)), (*some, *undriven), pages, trusted, noted, barred=barred)


def _declared(arm: Arm, known: tuple[Deviation, ...]) -> Arm:
    """Of the engine's own objects; an adapter issues calls of its own."""
    return replace(arm, deviations=known) if known and arm.provider is Provider.ENGINE else arm


def _together(entry: BackendEntry, found: Sequence[tuple[Reason, ...]]) -> Exclusion:
    same = all(reasons is found[0] for reasons in found)
    return Exclusion(entry.name, None, found[0] if same else tuple(dict.fromkeys(chain.from_iterable(found))))


def _chosen_driver(
    scenario: Scenario, entry: BackendEntry, default: DefaultPick, question: Question
) -> tuple[DriverEntry | None, tuple[Reason, ...]]:
    wanted = scenario.measure.backends
    if wanted and {*wanted, default.prefill, default.decode}.isdisjoint({entry.name, *entry.aliases}):
        asked, remedy = f"measure.backends=[{','.join(wanted)}]", f"add {entry.name} to measure.backends"
        return None, (Reason(NOT_SELECTED, asked, "the backends it names, and the default", remedy, "the user's selection"),)
    return driver_for(entry, scenario, question)
