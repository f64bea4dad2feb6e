"""Settings of their own that arms are asked to have (``measure.variants``), held against what the drivers of their backends have; and
arms that have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from backends.arm import Arm
from backends.knob import KV_DTYPE, PAGE_SIZE
from store.scenario import Scenario
from tuner.engines.lookup import rules_of
from tuner.suggest import instead

Knobs = Mapping[str, tuple[str, ...]]

PROVIDER = "provider"  # of a variant: engine or kernel, instead of the one that would be preferred

# Knobs of the server whose worth attention's time alone does not tell: no search turns them.
OF_THE_SERVER = {
    "chunked_prefill_size": "it changes the chunks themselves and the time of every other layer with them, which attention's does not tell",
    "speculative_attention_mode": "it says which side's backend verifies, so that other cells belong to each side: set "
    "engine.speculative.attention_mode and compare the two pins",
}


def unknown_knobs(tree: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each knob that no driver of the backend has, and each value that such a knob does not take; and for each that is to
    be searched and nobody has."""
    for variant in tree["measure"]["variants"]:
        entry = tree["backends"].get(variant.get("backend"))
        if entry is not None:
            known = _knobs_of(entry)
            wanted = ((name, value) for name, value in variant.items() if name != "backend")
            yield from (complaint for name, value in wanted if (complaint := _complaint(variant["backend"], name, value, known)))
    known_at_all = {*OF_THE_SERVER, *(name for entry in tree["backends"].values() for name in _knobs_of(entry))}
    for name in tree["search"]["knobs"]:
        if plain(name) not in known_at_all:
            yield f"search.knobs names {name}, which is no knob of any backend chosen; {instead(plain(name), known_at_all)}"


def _knobs_of(entry: Mapping[str, Any]) -> Knobs:
    """Of all its drivers: which of them runs is known where the worker is. Beside them stands which of them is asked for."""
    drivers = entry.get("drivers") or ()
    known: dict[str, tuple[str, ...]] = {}
    for name, values in ((str(name), _values(data)) for driver in drivers for name, data in (driver.get("knobs") or {}).items()):
        known[name] = tuple(dict.fromkeys((*known.get(name, ()), *values)))
    return {**known, PROVIDER: tuple(dict.fromkeys(str(driver["provider"]) for driver in drivers))} if drivers else {}


def _values(data: Any) -> tuple[str, ...]:
    return tuple(map(str, data.get("values", ()) if isinstance(data, Mapping) else data or ()))


def _complaint(backend: str, written: str, value: str, known: Knobs) -> str | None:
    name = plain(written)
    if not known:
        return f"measure.variants sets {name} of {backend}, which has no knobs; leave it out, or add knobs to a driver in its entry"
    if name not in known:
        return f"measure.variants sets {name!r} of {backend}, which is none of its knobs; {instead(name, known)}"
    if known[name] and value not in known[name]:
        return f"measure.variants sets {name}={value!r} of {backend}; {instead(value, known[name])}"
    return None


def with_knobs(arm: Arm, knobs: Iterable[tuple[str, str]], scenario: Scenario) -> Arm:
    """``arm`` with ``knobs`` beside its own, and with the page size and KV dtype that they say."""
    wanted = {plain(name): value for name, value in knobs}
    page_size, flag = wanted.pop(PAGE_SIZE, arm.page_size), wanted.get(KV_DTYPE)
    kv_dtype = arm.kv_dtype if flag is None else rules_of(scenario).resolved_kv_dtype(scenario.model, flag)
    return replace(arm, page_size=int(page_size), kv_dtype=kv_dtype, knobs=tuple(sorted({**dict(arm.knobs), **wanted}.items())))


def plain(written: str) -> str:
    """A knob's name, written like the flag or with underscores."""
    return written.replace("-", "_")
