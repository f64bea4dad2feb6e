"""A setting of its own that an arm of a backend may have: a flag of the server, or a variable of its environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backends.cell import Phase
from backends.entry_fields import EntryError, conditions_of, items_of, refuse_unknown, required, versions_of, words_of
from backends.limits import Answers, Clause, Excepted, holds
from backends.question import RULES

# Knobs that are fields of an arm: one value of each serves both phases, whatever the backend.
PAGE_SIZE, KV_DTYPE = "page_size", "kv_cache_dtype"
KNOB_KEYS = ("values", "search", "phases", "versions", "when", "unless", "without", "source")


@dataclass(frozen=True)
class Knob(Excepted):
    """``values`` that it takes (none: any), ``search`` those that a search tries beside leaving it alone (none: it is not searched).
    It changes calls of ``phases`` alone, and does something in the rule sets ``versions``, where every condition of ``when`` is met and
    none of ``unless``, while the knobs ``without`` are left alone. A name in capitals is an environment variable, any other a flag."""

    name: str
    values: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    phases: tuple[Phase, ...] = tuple(Phase)
    versions: tuple[str, ...] = RULES
    when: tuple[Clause, ...] = ()
    unless: tuple[Clause, ...] = ()
    without: tuple[str, ...] = ()
    source: str | None = None


def is_variable(name: str) -> bool:
    return name.isupper()


def knob_from(name: str, data: Any, here: str, engine: str) -> Knob:
    """Of a driver's entry: the list of its values, or a mapping with `KNOB_KEYS`. Raises `EntryError`."""
    where = f"{here}: {name}"
    if isinstance(data, Sequence) and not isinstance(data, str):
        return Knob(name, tuple(map(str, data)))
    if not isinstance(data, Mapping):
        raise EntryError(f"{where} is {data!r}; write the list of its values, [] for any")
    refuse_unknown(data, KNOB_KEYS, where)
    search, values = words_of(data, "search", where), words_of(data, "values", where)
    if strange := [value for value in search if values and value not in values]:
        raise EntryError(f"{where}: search names {strange[0]}, which is none of its values; write some of {', '.join(values)}")
    return Knob(
        name=name,
        values=values,
        search=search,
        phases=_phases(data, where) or tuple(Phase),
        versions=versions_of(data, where, engine) or RULES,
        when=conditions_of(data, where),
        unless=conditions_of({"when": data.get("unless")}, where),
        without=words_of(data, "without", where),
        source=required(data, "source", where) if search else data.get("source"),
    )


def _phases(data: Mapping[str, Any], where: str) -> tuple[Phase, ...]:
    words = [str(word) for word in items_of(data, "phases", where)]
    if strange := [word for word in words if word not in {phase.value for phase in Phase}]:
        raise EntryError(f"{where}: phase {strange[0]!r} is unknown; write some of {', '.join(phase.value for phase in Phase)}")
    return tuple(map(Phase, words))


def applies(knob: Knob, rules: str, answers: Answers) -> bool:
    """Whether it does something for one layer kind under a rule set; what nobody can tell is taken to be met."""
    return rules in knob.versions and holds(knob, answers)
