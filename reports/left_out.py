"""What a plan leaves out, or measures and never pins, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reports.page import Section, Table
from store.plan import Plan
from store.scenario import NO_DRIVER, NOT_SELECTED, Exclusion


def sections(plan: Plan) -> Iterator[Section]:
    """Backends first, then page sizes and pairs."""
    yield _barred(plan)
    yield from _excluded(exclusion for exclusion in plan.exclusions if not _only(exclusion, NO_DRIVER, NOT_SELECTED))
    yield _unselected(plan)
    yield _gaps(exclusion for exclusion in plan.exclusions if _only(exclusion, NO_DRIVER))
    yield _pages(plan)
    yield _apart(plan)


def _only(exclusion: Exclusion, *rules: str) -> bool:
    return all(reason.rule in rules for reason in exclusion.reasons)


def _barred(plan: Plan) -> Section:
    """Arms whose times are wanted all the same."""
    kept = dict.fromkeys(one for terms in plan.terms for one in terms.barred)
    served = plan.scenario.engine.role.phases
    every = "both" if len(served) > 1 else served[0].value
    rows = ((one.backend, one.phase or every, reason.asked, reason.allowed, reason.source) for one in kept for reason in one.reasons)
    table = Table(("backend", "phase", "asked", "allowed", "source"), tuple(rows))
    title = "Measured since measure.backends names them, and never pinned: what keeping to these costs"
    return Section(title, (table,) if table.rows else ())


def _excluded(exclusions: Iterable[Exclusion]) -> Iterator[Section]:
    """Backends that one question keeps out stand together, under what was asked and what to do about it."""
    groups: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for exclusion in exclusions:
        who = f"{exclusion.backend} ({exclusion.phase})" if exclusion.phase else exclusion.backend
        for reason in exclusion.reasons:
            groups.setdefault((reason.asked, reason.remedy), []).append((who, reason.allowed, reason.source))
    for (question, remedy), rows in groups.items():
        yield Section(f"Excluded, since {question} is asked; {remedy}", (Table(("backend", "allowed", "source"), tuple(rows)),))


def _unselected(plan: Plan) -> Section:
    """Backends that nothing but the user's own selection keeps out."""
    names = ", ".join(exclusion.backend for exclusion in plan.exclusions if _only(exclusion, NOT_SELECTED))
    return Section(f"Left out by measure.backends=[{','.join(plan.scenario.measure.backends)}]", (names,) if names else ())


def _gaps(exclusions: Iterable[Exclusion]) -> Section:
    """Backends that no limit keeps out, and that attnpin cannot drive all the same."""
    rows = tuple((gap.backend, reason.asked, reason.allowed, reason.source) for gap in exclusions for reason in gap.reasons)
    table = Table(("backend", "asked", "drivers", "source"), rows)
    return Section("No limit speaks against these, but attnpin cannot drive them", (table,) if rows else ())


def _pages(plan: Plan) -> Section:
    lines = (
        f"{page.backend} would run with page size {page.tokens}, not {page.asked or 'the default'}: prefix reuse and whatever "
        f"outside the engine knows the page size (a router) would have to follow"
        for page in plan.page_sizes
    )
    return Section("Forced page sizes", tuple(lines))


def _apart(plan: Plan) -> Section:
    rows = tuple((pair.prefill, pair.decode, pair.reason.allowed, pair.reason.source) for pair in plan.apart)
    table = Table(("prefill", "decode", "allowed", "source"), rows)
    return Section("Pairs that no page size serves; choose two that share one", (table,) if rows else ())
