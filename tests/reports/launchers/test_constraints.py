from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from reports.export import export
from reports.launchers.constraints import render
from store.pins.pin import Pin
from tests.reports import building
from tests.reports.launchers.hostile import TEXTS, pins
from tuner.exporting.launchers import load_launchers

CONSTRAINTS = load_launchers()["constraints"]


def with_distributions(*found: tuple[str, str, str], engine_version: str | None = None) -> Pin:
    pin = building.pin()
    return replace(pin, valid_for=replace(pin.valid_for, distributions=found, engine_version=engine_version))


def requirements(text: str) -> list[Requirement]:
    return [Requirement(line) for line in text.splitlines() if not line.startswith("#")]


def test_every_distribution_under_the_pin_and_the_engine_are_held_at_their_version() -> None:
    found = {each.name: str(each.specifier) for each in requirements(render(building.pin(), CONSTRAINTS))}
    assert found == {"flashinfer-python": "==0.6.14", "torch": "==2.11.0+cu130", "sglang": "==0.5.16"}


def test_a_local_version_is_held_as_it_was_built() -> None:
    [torch] = requirements(render(with_distributions(("torch", "2.11.0+cu130", "00")), CONSTRAINTS))
    assert torch.specifier.contains("2.11.0+cu130") and not torch.specifier.contains("2.11.0+cu129")


def test_what_has_no_version_is_named_and_held_at_none() -> None:
    text = render(with_distributions(("sglang", "unversioned", "00"), engine_version="unversioned"), CONSTRAINTS)
    assert requirements(text) == [] and text.endswith("# sglang: unversioned is no version to hold it at\n")


def test_the_reason_of_each_flag_stands_above_or_why_there_is_none() -> None:
    assert f"# --decode-attention-backend flashinfer: {building.BECAUSE}\n" in render(building.pin(), CONSTRAINTS)
    assert "# unset, because with the best arm a step is at most 0.42 % faster\n" in render(building.pin(building.kept()), CONSTRAINTS)


def test_there_is_no_hash_to_install_by() -> None:
    assert "--hash" not in render(building.pin(), CONSTRAINTS)


def test_no_flag_of_the_engine_stands_in_it_so_every_release_is_covered() -> None:
    old = with_distributions(("torch", "2.11.0", "00"), engine_version="0.4.6")
    assert export(old, CONSTRAINTS).notes == (CONSTRAINTS.note,)


@given(pins(), st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=3))
def test_nothing_in_a_pin_breaks_out(pin: Pin, distributions: list[tuple[str, str, str]]) -> None:
    made = replace(pin, valid_for=replace(pin.valid_for, distributions=(*distributions, ("torch", "2.11.0", "00"))))
    held = {each.name: str(each.specifier) for each in requirements(render(made, CONSTRAINTS))}
    possible = {name: f"=={version}" for name, version, _ in made.valid_for.distributions}
    assert held.items() <= {**possible, "sglang": "==0.5.16"}.items() and held["torch"] == "==2.11.0"
