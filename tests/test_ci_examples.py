"""What examples/ci/ and docs/in-ci.md tell others to copy: it loads, and attnpin takes every command in it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version
from ruamel.yaml import YAML

from tests.pages.commands import commands, of_page, of_workflow, parse
from tuner.composing.names import KNOWLEDGE
from tuner.doctor.known import load_known
from tuner.doctor.versions import within

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "in-ci.md").read_text()
WORKFLOW: dict[str, Any] = YAML(typ="safe").load((ROOT / "examples" / "ci" / "attention-pins.yml").read_text())
RENOVATE: dict[str, Any] = json.loads(
    re.sub(r"^\s*//.*$", "", (ROOT / "examples" / "ci" / "renovate.json5").read_text(), flags=re.MULTILINE)
)


def test_every_command_of_the_page_and_the_workflow_is_one_that_attnpin_takes() -> None:
    shown = {"page": list(of_page(PAGE)), "workflow": list(of_workflow(WORKFLOW))}
    assert len(shown["page"]) > 8 and len(shown["workflow"]) == 2
    for words in (*shown["page"], *shown["workflow"]):
        parse(words)


@pytest.mark.parametrize(
    "line", ["attnpin check --pkgs packages.txt", "attnpin export --pin pin.yaml", "attnpin check --pin pin.yaml 'engine.command=[a'"]
)
def test_a_command_that_it_does_not_take_would_be_noticed(line: str) -> None:
    [words] = commands(line)
    with pytest.raises(Exception, match=r"No such option|Missing parameter|no viable alternative"):
        parse(words)


def test_the_gate_needs_no_gpu_and_the_measuring_job_no_forks() -> None:
    gate, measure = WORKFLOW["jobs"]["gate"], WORKFLOW["jobs"]["measure"]
    assert gate["runs-on"] == "ubuntu-latest" and "self-hosted" in measure["runs-on"]
    assert measure["needs"] == "gate" and "head.repo.full_name == github.repository" in measure["if"]
    [(check, *words)] = [words for words in of_workflow(gate) if "--packages" in words]
    assert check == "check" and parse((check, *words))["markdown"] is True


def test_both_jobs_look_at_the_exit_code_that_says_measure() -> None:
    steps = {step["name"]: step for step in WORKFLOW["jobs"]["gate"]["steps"] if "name" in step}
    assert "|| code=$?" in steps["check the pins"]["run"] and "-eq 3" in steps["pass on 0 and 3"]["run"]
    assert "outputs.code == '3'" in WORKFLOW["jobs"]["measure"]["if"]


def test_renovate_moves_together_what_a_pin_can_rest_on() -> None:
    group, refused = RENOVATE["packageRules"]
    known = {each.name for each in load_known().distributions}
    assert set(group["matchPackageNames"]) <= known and {"sglang", "torch", "triton", "flashinfer-python"} <= set(
        group["matchPackageNames"]
    )
    assert group["groupName"] and group["automerge"] is False
    assert refused["matchPackageNames"] == ["flashinfer-python"]


def test_renovate_offers_no_release_that_was_taken_back_everywhere() -> None:
    [pattern] = re.findall(r"!/(.*)/", RENOVATE["packageRules"][1]["allowedVersions"])
    taken_back = [each.versions for each in load_known().releases if each.distribution == "flashinfer-python" and not each.sm]
    offered = [f"0.{minor}.{patch}{post}" for minor in (2, 5, 6, 7) for patch in range(20) for post in ("", ".post1")]
    refused = {version for version in offered if re.search(pattern, version)}
    assert refused == {version for version in offered if any(within(version, each) for each in taken_back)}, f"{KNOWLEDGE}/releases.yaml"
    assert Version("0.6.15") in map(Version, refused)


def test_what_renovate_reads_is_what_attnpin_exports() -> None:
    [pattern] = RENOVATE["pip_requirements"]["managerFilePatterns"]
    assert re.search(pattern.strip("/"), "constraints.txt") and re.search(pattern.strip("/"), "deploy/constraints.txt")
    assert any(words[:1] == ("export",) and "constraints" in words for words in of_page(PAGE))
