"""Which driver of a backend can be used where the worker runs, or why none can."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from backends.arm import Arm, Provider
from backends.capability import BackendEntry, Capability, DriverEntry, Limits, missing_modules
from backends.cell import Phase
from backends.judgement import reasons
from backends.measurable import unmeasurable, unverifiable
from backends.question import ENGINES, Question
from backends.reason import Reason
from store.scenario import NO_DRIVER, Scenario
from tuner.errors import Incomplete, UsageError


def driver_for(entry: BackendEntry, scenario: Scenario, question: Question) -> tuple[DriverEntry | None, tuple[Reason, ...]]:
    """The first usable driver in the entry's order, else the reasons.

    ``question.packages`` None = nobody has looked: the engine is taken to be installed on a GPU and not to be on a CPU.
    """
    packages = question.packages
    if split := _split(scenario):
        return None, (_not_whole(entry, *split),)
    fitting = [driver for driver in entry.drivers if _fits(driver, scenario)]
    if not fitting:
        return None, (_none_written(entry, scenario),)
    drafts = unverifiable(question.model, question.speculation, question.topk) if question.engine == "sglang" else ()
    if against := (*unmeasurable(question.model, [question.kv_dtype]), *drafts):
        return None, _undriven(entry, against)
    if not (fitting := [driver for driver in fitting if _verifies(driver, question)]):
        return None, (_never_verifies(entry),)
    refused = {driver: _in_no_phase(driver, entry, question) for driver in fitting}
    if all(refused.values()):
        return None, next(iter(refused.values()))
    fitting = [driver for driver in fitting if not refused[driver]]
    if packages is None:
        return _assumed(fitting, scenario.gpu.kind), ()
    ready = [driver for driver in fitting if set(driver.packages) <= set(packages)]
    return (ready[0], ()) if ready else (None, missing_modules(fitting[-1].packages, packages))


def driver_by(entry: BackendEntry, scenario: Scenario, provider: Provider) -> DriverEntry:
    """The first driver of ``provider`` that is made for the device and this kind of attention. Raises `UsageError`."""
    for driver in entry.drivers:
        if driver.provider is provider and _fits(driver, scenario):
            return driver
    asked = f"{scenario.model.attention.value} attention on {scenario.gpu.kind}"
    raise UsageError(
        f"measure.variants asks for {entry.name} by provider={provider.value}, which it does not have for {asked}; leave it out"
    )


def gaps(entry: BackendEntry, driver: DriverEntry, question: Question) -> dict[Phase, tuple[Reason, ...]]:
    """Why ``driver`` does not run the backend in a phase that the backend serves; empty where it does."""
    capability = _capability(driver.limits, entry.capability.versions)
    found = {phase: reasons(capability, replace(question, phase=phase)) for phase in Phase} if driver.limits else {}
    return {phase: _undriven(entry, against) for phase, against in found.items() if against}


def _in_no_phase(driver: DriverEntry, entry: BackendEntry, question: Question) -> tuple[Reason, ...]:
    """Why it runs the backend in neither phase; empty where it does in one."""
    found = gaps(entry, driver, question)
    return found[Phase.DECODE] if set(found) == set(Phase) else ()


def refuse_undriven(engine: str, entries: Iterable[BackendEntry]) -> None:
    """Raises `Incomplete` where no backend chosen can be driven on any machine, before one is taken."""
    if not any(entry.drivers for entry in entries):
        raise Incomplete(
            f"nothing is measured: attnpin has no driver for any of the backends chosen of {ENGINES[engine]}; `attnpin plan` says what it "
            f"would pick, and an entry with a driver can be added with --config-dir"
        )


def imports_of(entries: Iterable[BackendEntry]) -> tuple[str, ...]:
    """Every import name that an entry's kernels or drivers need: what to look for on the worker."""
    names = [
        name for entry in entries for name in (*entry.capability.modules, *(name for driver in entry.drivers for name in _imports(driver)))
    ]
    return tuple(dict.fromkeys(names))


def _imports(driver: DriverEntry) -> tuple[str, ...]:
    return (*driver.packages, *driver.libraries, *driver.optional)


@cache
def _capability(limits: Limits, versions: tuple[str, ...]) -> Capability:
    return Capability(limits, versions=versions)


def _fits(driver: DriverEntry, scenario: Scenario) -> bool:
    return scenario.gpu.kind in driver.devices and scenario.model.attention.value in driver.attention


def _verifies(driver: DriverEntry, question: Question) -> bool:
    """Adapters of kernels decode and prefill alone."""
    return question.speculation is None or question.engine != "sglang" or driver.provider is Provider.ENGINE


def _never_verifies(entry: BackendEntry) -> Reason:
    return Reason(
        rule=NO_DRIVER,
        asked=f"{entry.name} with the verify steps of speculative decoding",
        allowed="what the engine's own object verifies: adapters of kernels do not",
        remedy="measure it without engine.speculative, or with another tool",
        source="tuner/limiting/drivers.py",
    )


def _undriven(entry: BackendEntry, against: Iterable[Reason]) -> tuple[Reason, ...]:
    """Reasons as gaps of attnpin: no limit of the backend speaks here."""
    return tuple(replace(reason, rule=NO_DRIVER, asked=f"{entry.name} with {reason.asked}") for reason in against)


def _split(scenario: Scenario) -> tuple[str, str] | None:
    """The setting under which one rank serves only a part of a call, or of the layers, and what is measured."""
    engine = scenario.engine
    whole = "whole attention calls: no part of a context or of a prefill"
    sizes = (
        ("dcp_size", engine.dcp_size, whole),
        ("attn_cp_size", engine.attn_cp_size, whole),
        ("pipeline_parallel", engine.pipeline_parallel, "servers of one stage: the batches of several are not planned"),
    )
    return next(((f"engine.{name}={size}", measured) for name, size, measured in sizes if size > 1), None)


def _not_whole(entry: BackendEntry, split: str, measured: str) -> Reason:
    return Reason(
        rule=NO_DRIVER,
        asked=f"{entry.name} with {split}",
        allowed=measured,
        remedy="measure it with another tool, or without the split",
        source="tuner/limiting/drivers.py",
    )


def _assumed(fitting: list[DriverEntry], device: str) -> DriverEntry:
    preferred = Provider.KERNEL if device == "cpu" else Provider.ENGINE
    return next((driver for driver in fitting if driver.provider is preferred), fitting[0])


def _none_written(entry: BackendEntry, scenario: Scenario) -> Reason:
    written = [f"{' and '.join(driver.attention)} attention on {' and '.join(driver.devices)}" for driver in entry.drivers]
    of_engine = "" if entry.engine == "sglang" else f"{entry.engine}/"
    return Reason(
        rule=NO_DRIVER,
        asked=f"{entry.name} for {scenario.model.attention.value} attention on {scenario.gpu.kind}",
        allowed="; ".join(dict.fromkeys(written)) or f"none: {entry.undriven or 'attnpin has no driver for it in this version'}",
        remedy="measure it with another tool, or add a driver to its entry",
        source=f"conf/backend/{of_engine}{entry.name.lower()}.yaml",
    )


def tools_of(entries: Iterable[BackendEntry], arms: Iterable[Arm], device: str) -> list[tuple[str, tuple[str, ...]]]:
    """(backend, tools) for each arm whose driver builds kernels on a CPU with tools the worker must have."""
    tools = {driver.driver: driver.tools for entry in entries for driver in entry.drivers if driver.tools}
    return [(arm.backend, tools[arm.driver]) for arm in arms if device == "cpu" and arm.driver in tools]
