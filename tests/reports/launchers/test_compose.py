from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given

from reports.launchers import compose
from store.pins.pin import Pin
from tests.reports import building
from tests.reports.launchers.hostile import PIECES, pins, words
from tests.reports.launchers.sglang_config import arguments
from tests.reports.launchers.yaml_carriers import compose_config
from tuner.exporting.launchers import load_launchers

COMPOSE = load_launchers()["compose"]
BASE = """\
services:
  sglang:
    image: lmsysorg/sglang:v0.5.22
    command: [sglang, serve, --model-path, M, --config, /etc/attnpin/sglang.yaml]
"""


def test_the_service_finds_the_flags_with_their_reasons() -> None:
    content = compose_config(compose.render(building.pin(), COMPOSE))
    assert arguments(content) == ["--decode-attention-backend", "flashinfer", "--prefill-attention-backend", "fa3"]
    assert f": {building.BECAUSE}\ndecode-attention-backend: flashinfer\n" in content


def test_a_pin_that_sets_nothing_mounts_a_file_that_says_why() -> None:
    content = compose_config(compose.render(building.pin(building.kept()), COMPOSE))
    assert arguments(content) == [] and content.endswith("# unset, because with the best arm a step is at most 0.42 % faster\n")


@given(pins())
def test_nothing_in_a_pin_breaks_out(pin: Pin) -> None:
    assert arguments(compose_config(compose.render(pin, COMPOSE))) == words(pin, COMPOSE)


def test_compose_itself_reads_the_same(tmp_path: Path) -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True).returncode:
        pytest.skip("no docker compose on PATH")
    hostile = replace(building.pin(), because=(("decode-attention-backend", "".join(PIECES)),), run="$(id) ${HOME} $$")
    text = compose.render(hostile, COMPOSE)
    (tmp_path / "compose.yaml").write_text(BASE)
    (tmp_path / "attnpin.yaml").write_text(text)
    command = [docker, "compose", "-f", "compose.yaml", "-f", "attnpin.yaml", "config"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    read = yaml.safe_load(done.stdout)
    assert read["services"]["sglang"]["command"][-2:] == ["--config", "/etc/attnpin/sglang.yaml"]
    assert read["configs"]["attnpin"]["content"].replace("$$", "$") == compose_config(text)
