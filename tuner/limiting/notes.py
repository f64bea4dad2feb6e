"""What limits say beside yes and no, as sentences: what is taken on trust, and what an arm does that must be looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from backends.arm import Arm
from backends.cell import Cell, Phase
from store.scenario import NO_DRIVER, NOT_SELECTED
from tuner.limits import Sifted, serves


def trust_notes(sifted: Sifted) -> Iterator[str]:
    """A backend that is kept although nobody knows whether it may run, and what is unknown."""
    for kept in sifted.trusted:
        for doubt in kept.reasons:
            yield f"{kept.backend} is kept on trust: {doubt.asked}; it takes {doubt.allowed}; {doubt.remedy} ({doubt.source})"


def refusal_notes(backend: str, phase: Phase, sifted: Sifted) -> Iterator[str]:
    """Limits that a default breaks: the engine accepts it, and its server would not serve. And why attnpin cannot drive one."""
    for exclusion in sifted.exclusions:
        if exclusion.backend == backend and exclusion.phase in (None, phase.value):
            for reason in exclusion.reasons:
                if reason.rule == NO_DRIVER:
                    yield f"attnpin cannot drive {reason.asked} (drivers: {reason.allowed}); {reason.remedy}"
                elif reason.rule != NOT_SELECTED:
                    yield f"the default {backend} would fail in {phase.value}: {reason.asked}; it takes {reason.allowed} ({reason.source})"


def cost_notes(sifted: Sifted, measured: bool) -> Iterator[str]:
    """What backends do that are measured, or that are kept and attnpin cannot drive; nothing where no arm can be measured."""
    arms = {arm.backend for arm in sifted.arms}
    if not arms:
        return iter(())
    return (f"{backend} {note.says} ({note.source})" for backend, note in sifted.noted if (backend in arms) is measured)


def deviation_notes(arms: Iterable[Arm], cells: Iterable[Cell]) -> Iterator[str]:
    """What backends are known to compute otherwise than the model asks, on the cells that would be measured."""
    cells, found = tuple(cells), dict.fromkeys((arm.backend, one) for arm in arms for one in arm.deviations)
    for backend, one in found:
        where = next((cell for cell in cells if one.concerns(cell)), None)
        if where is not None:
            yield (
                f"{backend} {one.says} ({one.in_numbers(where)}; {one.source}): its answers are held to that, and it takes the "
                f"place of an arm that computes what the model asks only with engine.allow_deviations=true"
            )


def lonely_notes(sifted: Sifted, phases: Iterable[Phase]) -> Iterator[str]:
    """Arms of one side whose page size and KV dtype no arm of the other has: they are measured, and no server could have them."""
    for arm in sifted.arms:
        for phase in phases:
            partners = (other for other in sifted.arms if (other.page_size, other.kv_dtype) == (arm.page_size, arm.kv_dtype))
            if not any(serves(other, phase, sifted.exclusions) for other in partners):
                shared = f"set engine.page_size={arm.page_size} to have all of them on it"
                yield f"{arm.name} finds no partner, since no arm serves {phase.value} at its page size, and cannot be pinned: {shared}"
