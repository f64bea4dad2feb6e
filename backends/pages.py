"""Page sizes that a backend takes, and pairs of backends that share none: one page size serves both phases."""

from __future__ import annotations

from collections.abc import Mapping

from backends.asked import Asked, Asking
from backends.capability import BackendEntry, Capability, Limits
from backends.cell import Phase
from backends.limits import of_engine, unmet
from backends.reason import Reason

# Any that a backend is known to want; SGLang takes other numbers too, which no backend's kernels are built for.
PAGE_SIZES = (1, 16, 32, 64, 128, 256)


def page_limits(capability: Capability, asked: Asked) -> Limits:
    """The limits on page sizes that surely count here."""
    mine = (limit for limit in capability.of_version[asked.question.rules][1] if limit.rule == "page_size")
    return tuple(limit for limit in mine if any(unmet(limit, kind) == () for kind in asked.kinds))


def taken(limits: Limits) -> tuple[int, ...]:
    """What all of ``limits`` take, of `PAGE_SIZES`."""
    return tuple(size for size in PAGE_SIZES if all(limit.takes[size] for limit in limits))


def apart(prefill: BackendEntry, decode: BackendEntry, ask: Asking) -> Reason | None:
    """Why the two cannot serve together whatever page size is set; None where they can."""
    limits = {
        Phase.PREFILL: page_limits(prefill.capability, ask(Phase.PREFILL, PAGE_SIZES[0])),
        Phase.DECODE: page_limits(decode.capability, ask(Phase.DECODE, PAGE_SIZES[0])),
    }
    if not all(limits.values()) or set(taken(limits[Phase.PREFILL])) & set(taken(limits[Phase.DECODE])):
        return None
    return _reason({Phase.PREFILL: prefill.name, Phase.DECODE: decode.name}, limits, ask(Phase.DECODE, PAGE_SIZES[0]).question.rules)


def _reason(names: Mapping[Phase, str], limits: Mapping[Phase, Limits], rules: str) -> Reason:
    sizes = {phase: " or ".join(map(str, taken(limits[phase]))) or "none" for phase in names}
    sources = dict.fromkeys(limit.source for phase in names for limit in limits[phase])
    return Reason(
        rule="page_size",
        asked=" with ".join(f"{name} in {phase.value}" for phase, name in names.items()),
        allowed=" and ".join(f"page size {sizes[phase]} for {name}" for phase, name in names.items()),
        remedy="choose two backends that share a page size",
        source="; ".join(f"{source} ({rules})" if of_engine(source) else source for source in sources),
    )
