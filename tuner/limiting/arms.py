"""The arms of a backend that may run: at which page sizes, with which knobs, driven by whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from backends.allowed import Taken
from backends.arm import Arm, Provider
from backends.capability import BackendEntry, DriverEntry
from store.runs.run import DefaultPick
from store.scenario import Scenario
from tuner.limiting.drivers import driver_by
from tuner.limiting.knobs import PROVIDER, with_knobs

Knobs = tuple[tuple[str, str], ...]


def arms_of(entry: BackendEntry, driver: DriverEntry, scenario: Scenario, default: DefaultPick, tokens: int) -> tuple[Arm, ...]:
    """At the backend's own page size ``tokens`` and, for a backend of the default pair, at that pair's; then those again with the knobs
    that were asked for, driven by the provider that was asked for."""
    of_default = (default.page_size,) if entry.name in (default.prefill, default.decode) else ()
    knobs = _calls(driver, scenario.engine.version)
    arms = tuple(
        Arm(entry.name, driver.provider, driver.driver, page, default.kv_cache_dtype, driver.packages, knobs, optional=driver.optional)
        for page in dict.fromkeys((tokens, *of_default))
    )
    return (*arms, *_variants(entry, scenario, arms))


def _variants(entry: BackendEntry, scenario: Scenario, arms: Sequence[Arm]) -> Iterator[Arm]:
    asked = [dict(variant.knobs) for variant in scenario.measure.variants if variant.backend == entry.name]
    wanted = [(_provided(entry, scenario, arms, knobs.pop(PROVIDER, None)), knobs) for knobs in asked]
    return (with_knobs(arm, knobs.items(), scenario) for bases, knobs in wanted for arm in bases)


def _provided(entry: BackendEntry, scenario: Scenario, arms: Sequence[Arm], provider: str | None) -> Sequence[Arm]:
    """Raises `UsageError` where nobody provides the backend so."""
    if provider is None:
        return arms
    driver = driver_by(entry, scenario, Provider(provider))
    knobs = _calls(driver, scenario.engine.version)
    how = partial(replace, provider=driver.provider, driver=driver.driver, packages=driver.packages, optional=driver.optional)
    return [how(arm, knobs=knobs) for arm in arms]


def _calls(driver: DriverEntry, version: str) -> Knobs:
    """How that release of the engine has the library called."""
    return next((calls.knobs for calls in driver.calls if Taken(calls.engine)[version]), ())
