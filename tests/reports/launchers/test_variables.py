"""Variables of the environment that a pin sets beside its flags, and flags that take no value."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import yaml

from reports.export import export, hint
from reports.launchers.launcher import ExportError
from store.pins.pin import Pin
from tests.reports import building
from tests.reports.launchers.env_readers import docker
from tests.reports.launchers.systemd_readers import drop_in
from tuner.exporting.launchers import load_launchers

LAUNCHERS = load_launchers()
NAME, WHY = "SGLANG_FLASHINFER_USE_TENSOR_CORE", "decode: faster with it"


def pin(value: str = "true", *flags: tuple[str, str]) -> Pin:
    made = building.pin()
    return replace(made, flags=(*made.flags, *flags), variables=((NAME, value),), because=(*made.because, (NAME, WHY)))


def text(launcher: str, made: Pin | None = None) -> str:
    return export(made or pin(), LAUNCHERS[launcher]).text


def test_forms_with_a_place_for_it_hold_the_variable() -> None:
    assert docker(text("env"))[NAME] == "true" and drop_in(text("systemd"))[NAME] == "true"
    assert yaml.safe_load(text("compose"))["services"]["sglang"]["environment"] == {NAME: "true"}
    found = json.loads(text("json"))
    assert found["environment"] == {NAME: "true"} and found["because"][NAME] == WHY


@pytest.mark.parametrize("launcher", ["sglang", "sglang-yaml", "kubernetes", "slurm"])
def test_where_a_form_has_no_place_for_it_it_is_said_beside(launcher: str) -> None:
    made = export(pin(), LAUNCHERS[launcher])
    assert NAME not in made.text and any(f"has to hold {NAME}=true" in note and WHY in note for note in made.notes)


def test_a_pin_without_variables_says_nothing_of_them() -> None:
    for name in ("env", "systemd", "compose", "json", "sglang"):
        made = export(building.pin(), LAUNCHERS[name])
        assert "nvironment:" not in made.text and not any("environment has to hold" in note for note in made.notes)


def test_a_hint_names_it_with_its_reason() -> None:
    assert f"# {NAME}=true ({WHY})" in hint(pin(), LAUNCHERS["sglang"])


@pytest.mark.parametrize("launcher", ["env", "systemd"])
def test_a_value_that_would_need_quotes_is_refused(launcher: str) -> None:
    with pytest.raises(ExportError, match=NAME):
        text(launcher, pin("a b"))


def test_a_switch_stands_alone_and_is_true_in_a_file() -> None:
    made = pin("true", ("flashinfer-mla-disable-ragged", "true"))
    assert text("sglang", made).split()[-1] == "--flashinfer-mla-disable-ragged"
    assert yaml.safe_load(text("sglang-yaml", made))["flashinfer-mla-disable-ragged"] is True
    assert docker(text("env", made))["ATTNPIN_ARGS"].endswith(",--flashinfer-mla-disable-ragged")
