from __future__ import annotations

import shlex
import subprocess
from dataclasses import replace

import pytest
from hypothesis import given, settings

from reports.launchers import command_line
from store.pins.pin import Pin
from tests.reports import building
from tests.reports.launchers.env_readers import SHELLS
from tests.reports.launchers.hostile import pins, words
from tuner.exporting.launchers import load_launchers

SGLANG, VLLM = (load_launchers()[name] for name in ("sglang", "vllm"))


def test_the_flags_stand_on_one_line_in_full() -> None:
    text = command_line.render(building.pin(), SGLANG)
    assert text == "--decode-attention-backend flashinfer --prefill-attention-backend fa3\n"


def test_a_pin_that_sets_nothing_gives_an_empty_line() -> None:
    assert command_line.render(building.pin(building.kept()), SGLANG) == "\n"


def test_vllm_takes_keys_of_an_object_after_dots() -> None:
    flags = (("attention-backend", "FLASHINFER"), ("attention-config.use_trtllm_attention", "false"))
    pin = replace(building.pin(), engine="vllm", flags=flags)
    assert command_line.render(pin, VLLM) == "--attention-backend FLASHINFER --attention-config.use_trtllm_attention false\n"


@given(pins())
def test_every_value_is_read_back(pin: Pin) -> None:
    assert shlex.split(command_line.render(pin, SGLANG)) == words(pin, SGLANG)


@pytest.mark.parametrize("shell", SHELLS)
@settings(max_examples=15, deadline=None)  # each starts a shell
@given(pins())
def test_a_shell_gives_back_the_same_words(shell: str, pin: Pin) -> None:
    script = f"printf '%s\\0' begin {command_line.render(pin, SGLANG)}"
    done = subprocess.run([shell, "-c", script], capture_output=True, check=True, env={"PATH": "/usr/bin:/bin"})
    assert done.stdout.decode().split("\0") == ["begin", *words(pin, SGLANG), ""] and done.stderr == b""
