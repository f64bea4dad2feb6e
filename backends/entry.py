"""From one file of the `backend` group to a `BackendEntry`. YAML holds values and names only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backends.arm import Provider
from backends.capability import BackendEntry, Calls, Capability, DriverEntry, InnerPath, KnownDeviation, Note
from backends.entry_fields import (
    EntryError,
    allowed_of,
    conditions_of,
    engine_of,
    items_of,
    keys_of,
    refuse_unknown,
    required,
    rule_of,
    steps_of,
    sums_of,
    versions_of,
    words_of,
)
from backends.knob import knob_from
from backends.limits import Limit
from backends.question import RULE_SETS
from backends.serving_jit import Builds, ServingJit

ENTRY_KEYS = (
    *("name", "source", "versions", "history", "paths", "limits", "notes", "deviations", "modules", "drivers", "aliases", "graph"),
    *("jit_while_serving", "engine", "undriven"),
)
LIMIT_KEYS = ("rule", "allowed", "source", "versions", "when", "why", "remedy", "becomes")
PATH_KEYS = ("name", "source", "versions", "when")
NOTE_KEYS = ("says", "source", "versions", "when")
DEVIATION_KEYS = ("says", "steps", "keys", "source", "versions", "when", "unless", "narrow_sums")
JIT_KEYS = ("builds", "why", "source")
DRIVER_KEYS = ("provider", "driver", "packages", "devices", "attention", "tools", "limits", "calls", "knobs", "libraries", "optional")
CALLS_KEYS = ("engine", "knobs", "source")


@dataclass(frozen=True)
class _Heading:
    """What stands at the top of an entry for every limit, path and note that has none itself."""

    backend: str
    source: str | None
    versions: tuple[str, ...]
    engine: str


def entry_from(data: Mapping[str, Any]) -> BackendEntry:
    """The entry that ``data`` describes. ``source`` and ``versions`` at the top stand for every limit that has none itself;
    ``versions`` are rule sets or spans of them ("0.5.22..").

    Raises `EntryError` for an unknown key or rule, a missing one, or a value of the wrong kind.
    """
    name = required(data, "name", "a backend entry")
    where = f"backend {name}"
    refuse_unknown(data, ENTRY_KEYS, where)
    engine = engine_of(data, where)
    heading = _Heading(where, data.get("source"), versions_of(data, where, engine) or RULE_SETS[engine], engine)
    return BackendEntry(
        name=name,
        capability=_capability(data, heading),
        drivers=tuple(_driver(item, heading) for item in items_of(data, "drivers", where)),
        aliases=words_of(data, "aliases", where),
        graph=bool(data.get("graph", True)),
        jit=_jit(data["jit_while_serving"], f"{where}, jit_while_serving") if data.get("jit_while_serving") else None,
        engine=engine,
        undriven=data.get("undriven"),
    )


def _capability(data: Mapping[str, Any], heading: _Heading) -> Capability:
    where = heading.backend
    paths = tuple(_path(item, heading) for item in items_of(data, "paths", where))
    limits = tuple(_limit(item, heading) for item in items_of(data, "limits", where))
    return Capability(
        limits=limits,
        modules=words_of(data, "modules", where),
        versions=heading.versions,
        paths=paths,
        notes=tuple(_note(item, heading) for item in items_of(data, "notes", where)),
        deviations=tuple(_deviation(item, heading) for item in items_of(data, "deviations", where)),
        history=data.get("history"),
    )


def _limit(data: Mapping[str, Any], heading: _Heading) -> Limit:
    rule = rule_of(required(data, "rule", heading.backend), heading.backend)
    here = f"{heading.backend}, limit {rule}"
    refuse_unknown(data, LIMIT_KEYS, here)
    return Limit(
        rule=rule,
        allowed=allowed_of(items_of(data, "allowed", here), here),
        source=_source(data, heading, here),
        versions=versions_of(data, here, heading.engine) or heading.versions,
        when=conditions_of(data, here),
        why=data.get("why"),
        remedy=data.get("remedy"),
        becomes=data.get("becomes"),
    )


def _path(data: Mapping[str, Any], heading: _Heading) -> InnerPath:
    name = required(data, "name", f"{heading.backend}, a path")
    here = f"{heading.backend}, path {name}"
    refuse_unknown(data, PATH_KEYS, here)
    return InnerPath(
        name, _source(data, heading, here), versions_of(data, here, heading.engine) or heading.versions, conditions_of(data, here)
    )


def _note(data: Mapping[str, Any], heading: _Heading) -> Note:
    here = f"{heading.backend}, a note"
    says = required(data, "says", here)
    refuse_unknown(data, NOTE_KEYS, here)
    return Note(says, _source(data, heading, here), versions_of(data, here, heading.engine) or heading.versions, conditions_of(data, here))


def _deviation(data: Mapping[str, Any], heading: _Heading) -> KnownDeviation:
    here = f"{heading.backend}, a deviation"
    says = required(data, "says", here)
    refuse_unknown(data, DEVIATION_KEYS, here)
    return KnownDeviation(
        says=says,
        source=_source(data, heading, here),
        steps=steps_of(data, here),
        keys=keys_of(data, here),
        versions=versions_of(data, here, heading.engine) or heading.versions,
        when=conditions_of(data, here),
        unless=conditions_of({"when": data.get("unless")}, here),
        narrow_sums=sums_of(data, here),
    )


def _source(data: Mapping[str, Any], heading: _Heading, here: str) -> str:
    return data.get("source") or heading.source or required(data, "source", here)


def _jit(data: Any, where: str) -> ServingJit:
    if not isinstance(data, Mapping):
        raise EntryError(f"{where} is {data!r}; write {{builds: ..., why: ..., source: ...}}")
    refuse_unknown(data, JIT_KEYS, where)
    builds = required(data, "builds", where)
    if builds not in {member.value for member in Builds}:
        raise EntryError(f"{where}: builds {builds!r} is unknown; write one of {', '.join(member.value for member in Builds)}")
    return ServingJit(Builds(builds), required(data, "why", where), required(data, "source", where))


def _driver(data: Mapping[str, Any], heading: _Heading) -> DriverEntry:
    where = heading.backend
    refuse_unknown(data, DRIVER_KEYS, f"{where}, driver")
    provider = required(data, "provider", f"{where}, driver")
    if provider not in {member.value for member in Provider}:
        raise EntryError(f"{where}: provider {provider!r} is unknown; write engine or kernel")
    return DriverEntry(
        provider=Provider(provider),
        driver=required(data, "driver", f"{where}, driver"),
        packages=words_of(data, "packages", where),
        devices=words_of(data, "devices", where),
        attention=words_of(data, "attention", where) or ("mha",),
        tools=words_of(data, "tools", where),
        limits=tuple(_limit(item, heading) for item in items_of(data, "limits", where)),
        calls=tuple(_calls(item, f"{where}, driver, calls") for item in items_of(data, "calls", where)),
        knobs=tuple(
            knob_from(str(name), values, f"{where}, driver, knobs", heading.engine) for name, values in (data.get("knobs") or {}).items()
        ),
        libraries=words_of(data, "libraries", where),
        optional=words_of(data, "optional", where),
    )


def _calls(data: Mapping[str, Any], here: str) -> Calls:
    refuse_unknown(data, CALLS_KEYS, here)
    spans, knobs = allowed_of(items_of(data, "engine", here), here), data.get("knobs")
    if not spans or not isinstance(knobs, Mapping):
        raise EntryError(f"{here}: write {{engine: [..0.5.8], knobs: {{name: value}}, source: ...}}")
    return Calls(spans, tuple(sorted((str(name), str(value)) for name, value in knobs.items())), required(data, "source", here))
