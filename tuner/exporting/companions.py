"""What a pin's backends were measured with and its flags leave to the engine: written out where the pin is exported.

A later release, a backend or another spelling of the same may make something else of what nobody wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from store.pins.pin import Pin
from store.runs.run import Run
from tuner.engines.choices import KV_DTYPE, PAGE_SIZE
from tuner.engines.lookup import choices_of, rules_of

AUTO = "auto"
Companion = tuple[str, str, str]  # flag, value, why
Against = Callable[[Mapping[str, str], Mapping[str, str]], str | None]  # flags, more flags -> what these would change


def completed(pin: Pin, run: Run) -> tuple[Pin, tuple[str, ...]]:
    """The pin with its companions, and a sentence for each that the engine would not take written out. ``run`` is its evidence."""
    rules, packages = rules_of(run.scenario), run.environment.releases

    def against(flags: Mapping[str, str], more: Mapping[str, str]) -> str | None:
        return rules.changed_by(run.scenario, flags, more, run.default.rules_version, packages)

    own = rules.default_page_size(run.scenario.gpu)
    return with_companions(pin, tuple(companions(pin, own, run.scenario.engine.kv_cache_dtype)), against)


def companions(pin: Pin, own_page_size: int, asked_kv_dtype: str) -> Iterator[Companion]:
    """None beside a pin that sets nothing. ``own_page_size`` is the engine's where nothing asks otherwise, ``asked_kv_dtype`` the word
    that the run was given; what "auto" comes to stands in the checkpoint and not in a flag."""
    page, measured = flag_for(PAGE_SIZE, pin.engine), pin.valid_for.page_size
    if pin.flags and measured != own_page_size:
        yield page, str(measured), f"measured at page size {measured}, which a backend or a release may set otherwise"
    if pin.flags and asked_kv_dtype != AUTO:
        yield flag_for(KV_DTYPE, pin.engine), asked_kv_dtype, f"measured with a KV cache of {pin.valid_for.kv_cache_dtype}, as asked for"


def flag_for(choice: str, engine: str) -> str:
    return next(option for option, chosen in choices_of(engine).options.items() if chosen == choice)


def with_companions(pin: Pin, wanted: tuple[Companion, ...], against: Against) -> tuple[Pin, tuple[str, ...]]:
    said = list[str]()
    for flag, value, because in wanted:
        flags = dict(pin.flags)
        if flag in flags:
            continue
        if (change := against(flags, {flag: value})) is None:
            pin = replace(pin, flags=(*pin.flags, (flag, value)), because=(*pin.because, (flag, because)))
        else:
            said.append(f"--{flag} {value} is not written out, the engine comes to it by itself: {change}")
    return pin, tuple(said)
