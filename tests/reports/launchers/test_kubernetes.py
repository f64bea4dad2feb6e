from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given

from reports.launchers import kubernetes
from store.pins.pin import Pin
from tests.reports import building
from tests.reports.launchers.hostile import pins, words
from tests.reports.launchers.sglang_config import arguments
from tests.reports.launchers.yaml_carriers import config_map
from tuner.exporting.launchers import load_launchers

KUBERNETES = load_launchers()["kubernetes"]


def test_a_pod_finds_the_flags_with_their_reasons() -> None:
    content = config_map(kubernetes.render(building.pin(), KUBERNETES))
    assert arguments(content) == ["--decode-attention-backend", "flashinfer", "--prefill-attention-backend", "fa3"]
    assert f": {building.BECAUSE}\ndecode-attention-backend: flashinfer\n" in content


def test_the_two_words_and_the_mount_are_said_and_lead_to_the_file() -> None:
    text = kubernetes.render(building.pin(), KUBERNETES)
    assert "#   args:         [..., --config, /etc/attnpin/sglang.yaml]" in text
    assert "{name: attnpin, mountPath: /etc/attnpin}" in text and "{name: attnpin, configMap: {name: attnpin-sglang}}" in text


def test_a_pin_that_sets_nothing_gives_a_file_that_says_why() -> None:
    content = config_map(kubernetes.render(building.pin(building.kept()), KUBERNETES))
    assert arguments(content) == [] and content.endswith("# unset, because with the best arm a step is at most 0.42 % faster\n")


@pytest.mark.parametrize("run", ["20261130", "007", "1e3", "no", ""])
def test_the_run_is_an_annotation_and_so_a_text(run: str) -> None:
    found = yaml.safe_load(kubernetes.render(replace(building.pin(), run=run), KUBERNETES))
    assert found["metadata"]["annotations"] == {"attnpin-run": run}


@given(pins())
def test_nothing_in_a_pin_breaks_out(pin: Pin) -> None:
    text = kubernetes.render(pin, KUBERNETES)
    assert arguments(config_map(text)) == words(pin, KUBERNETES)
    assert "{{" not in "".join(line for line in text.splitlines() if line.lstrip().startswith("#"))


def test_kustomize_keeps_the_comments_of_the_file(tmp_path: Path) -> None:
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("no kubectl on PATH")
    text = kubernetes.render(building.pin(), KUBERNETES)
    (tmp_path / "attnpin.yaml").write_text(text)
    (tmp_path / "kustomization.yaml").write_text("resources: [attnpin.yaml]\n")
    done = subprocess.run([kubectl, "kustomize", str(tmp_path)], capture_output=True, text=True, check=True)
    assert config_map(done.stdout) == config_map(text)
