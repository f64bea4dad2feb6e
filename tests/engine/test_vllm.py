"""vLLM's backends and their limits against vLLM itself: its own selector is asked about the same scenarios."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from backends.capability import DECISIVE, BackendEntry
from backends.latent import LATENT
from backends.limits import Limit
from tests.engine.folders import engine_folders
from tests.engine.vllm.answers import Answered, answered, difference, reasons_of, unlike
from tests.engine.vllm.configurations import MADE_UP, configurations
from tuner.engines.vllm.orders import names_for
from tuner.settings import compose_backends

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]  # the first use unpacks a vLLM

COUNT, SHOWN, TRIED = 9_000, 10, 40
# What no scenario breaks: every dtype that a model may have is taken.
UNBREAKABLE = {("TRITON_ATTN", "dtype"), ("FLEX_ATTENTION", "dtype")}
# What is asked of the model's own code, or of the packages that a worker reports, and not of the selector.
NOT_ASKED = (*DECISIVE, "kv_widths", "flashinfer")


@pytest.fixture(scope="module")
def entries() -> tuple[BackendEntry, ...]:
    return compose_backends(["engine=vllm"]).entries


@pytest.fixture(scope="module")
def named(entries: tuple[BackendEntry, ...]) -> dict[str, BackendEntry]:
    return {entry.name: entry for entry in entries}


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Answered]]:
    with pytest.MonkeyPatch.context() as patched:
        for architecture, latent in MADE_UP.items():
            patched.setitem(LATENT, architecture, latent)
        folder: Path = tmp_path_factory.mktemp("vllm")
        yield answered(list(configurations(COUNT)), engine_folders("vllm-0.33.0"), folder)


def test_the_rules_pick_what_vllm_picks(everything: list[Answered], entries: tuple[BackendEntry, ...]) -> None:
    found = [
        f"{one.scenario.gpu.name}, {one.scenario.model}, {one.scenario.engine}: {said}"
        for one in everything
        if (said := difference(one, entries))
    ]
    assert not found, f"{len(found)} of {COUNT} differ:\n" + "\n".join(found[:SHOWN])


def test_the_limits_refuse_what_vllm_refuses_for_the_same_reasons(everything: list[Answered], named: dict[str, BackendEntry]) -> None:
    found = [
        f"{one.scenario.gpu.name}, {one.scenario.model}, {one.scenario.engine}: {said}" for one in everything for said in unlike(one, named)
    ]
    assert not found, f"{len(found)} differ:\n" + "\n".join(found[:SHOWN])


def test_half_of_the_scenarios_are_served_and_every_backend_serves_some(everything: list[Answered]) -> None:
    served = [one.says.resolved["decode"] for one in everything if one.says.resolved]
    taken = Counter(name for one in everything for name, reasons in one.rejected.items() if not reasons)
    print(f"\nvLLM 0.33.0: {COUNT} scenarios, {len(served)} of them served, {dict(Counter(served))}")
    assert COUNT / 2 < len(served) < COUNT
    assert {*names_for("cuda", "mha"), *names_for("cuda", "mla")} == set(taken)


def test_every_limit_is_missed_when_it_is_switched_off(everything: list[Answered], named: dict[str, BackendEntry]) -> None:
    held = broken_limits(everything, named)
    limits = [(entry, limit) for entry in named.values() if entry.name in JUDGED for limit in entry.capability.limits]
    missed = {
        (entry.name, limit.rule, limit.in_words): _noticed(entry, limit, held[entry.name, limit.rule, limit.in_words], named)
        for entry, limit in limits
        if limit.rule not in NOT_ASKED and (entry.name, limit.rule) not in UNBREAKABLE
    }
    for key, count in missed.items():
        print(
            f"{': '.join(key)}: broken in {len(held[key])} scenarios; without it {count} of {min(TRIED, len(held[key]))} differ from vLLM"
        )
    assert not [key for key, count in missed.items() if count == 0]


def broken_limits(everything: list[Answered], named: dict[str, BackendEntry]) -> dict[tuple[str, str, str], list[Answered]]:
    """The scenarios in which a limit is broken, by backend, rule and what is allowed; those first in which few others are."""
    found = defaultdict[tuple[str, str, str], list[tuple[int, Answered]]](list)
    for one in everything:
        for name, reasons in reasons_of(one, named).items():
            for reason in reasons:
                found[name, reason.rule, reason.allowed].append((len(reasons), one))
    held = {limit: [one for _, one in sorted(broken, key=lambda pair: pair[0])] for limit, broken in found.items()}
    return defaultdict(list, held)


JUDGED = {*names_for("cuda", "mha"), *names_for("cuda", "mla")}


def _noticed(entry: BackendEntry, limit: Limit, broken: list[Answered], named: dict[str, BackendEntry]) -> int:
    limits = tuple(other for other in entry.capability.limits if other is not limit)
    without = {**named, entry.name: replace(entry, capability=replace(entry.capability, limits=limits))}
    return sum(any(said.startswith(f"{entry.name}:") for said in unlike(one, without)) for one in broken[:TRIED])
