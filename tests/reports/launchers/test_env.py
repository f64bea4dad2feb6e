from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.launchers import env
from reports.launchers.launcher import ExportError
from store.pins.pin import Pin
from tests.reports import building
from tests.reports.launchers.env_readers import SHELLS, VARIABLE, docker, sourced
from tests.reports.launchers.hostile import pins
from tests.reports.launchers.systemd_readers import env_file
from tuner.exporting.launchers import load_launchers

ENV = load_launchers()["env"]
LINE = "--decode-attention-backend=flashinfer,--prefill-attention-backend=fa3"


def pin(**changes: object) -> Pin:
    return replace(building.pin(), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_docker_and_systemd_read_the_same_value(shell: str, tmp_path: Path) -> None:
    text = env.render(pin(), ENV)
    assert sourced(shell, text, tmp_path) == docker(text)[VARIABLE] == env_file(text)[VARIABLE] == LINE


def test_one_substitution_turns_the_value_into_the_flags() -> None:
    words = docker(env.render(pin(), ENV))[VARIABLE].replace(",", " ").split()
    assert words == ["--decode-attention-backend=flashinfer", "--prefill-attention-backend=fa3"]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_pin_that_sets_nothing_leaves_the_variable_empty(shell: str, tmp_path: Path) -> None:
    text = env.render(building.pin(building.kept()), ENV)
    assert sourced(shell, text, tmp_path) == docker(text)[VARIABLE] == ""
    assert "# unset, because with the best arm a step is at most 0.42 % faster\n" in text


def test_the_reason_stands_on_a_line_of_its_own() -> None:
    assert f"# decode-attention-backend: {building.BECAUSE}\n" in env.render(pin(), ENV)


@given(st.text())
def test_docker_is_not_disturbed_by_any_reason(reason: str) -> None:
    for made in (pin(because=(("decode-attention-backend", reason),)), pin(flags=(), because=(), unset=reason)):
        assert list(docker(env.render(made, ENV))) == [VARIABLE]


@given(pins())
def test_what_readers_take_differently_is_refused_and_the_rest_is_read_by_all(made: Pin) -> None:
    try:
        text = env.render(made, ENV)
    except ExportError as error:
        assert "cannot stand unquoted in an env file" in str(error)
    else:
        flags = ",".join(f"--{name}={value}" for name, value in made.flags)
        assert docker(text) == env_file(text) == {VARIABLE: flags}


@settings(max_examples=25, deadline=None)  # each starts a shell
@given(st.text())
def test_a_shell_is_not_disturbed_by_any_reason(reason: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        text = env.render(pin(because=(("decode-attention-backend", reason),)), ENV)
        assert sourced("sh", text, Path(folder)) == LINE


@pytest.mark.parametrize("value", ["a b", "$HOME", "'x'", "a,b", "", "x\ny", "*", "é"])
def test_a_value_that_dialects_read_differently_is_refused(value: str) -> None:
    with pytest.raises(ExportError, match="cannot stand unquoted in an env file; export it with --to sglang"):
        env.render(pin(flags=(("kv-cache-dtype", value),)), ENV)
