"""docs/deploying.md: its commands parse, its YAML is YAML, and what it shows by hand says the same as what is printed."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from tests.pages.commands import of_page, parse
from tests.pages.deploying import PIN, USED_AS, one_word_each, render
from tests.reports.launchers.carried import carried
from tuner.exporting.launchers import load_launchers

PAGE = (Path(__file__).parents[2] / "docs" / "deploying.md").read_text()
BLOCKS = [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)]


def test_it_is_what_the_exporters_print_today() -> None:
    assert render() == PAGE


def test_its_commands_are_the_command_lines_own() -> None:
    shown = {parse(words)["to"] for words in of_page(PAGE) if words[0] == "export" and len(words) > 1}
    assert {"sglang", "sglang-yaml", "systemd", "compose", "kubernetes", "slurm"} <= shown


def test_every_launcher_has_its_line() -> None:
    assert set(USED_AS) == set(load_launchers())
    assert all(f"| --to {name} |" in PAGE for name in USED_AS)


def test_the_pin_it_shows_is_one_that_every_form_carries() -> None:
    assert len({tuple(words) for words in carried(PIN).values()}) == 1


def test_a_leader_and_its_workers_are_given_the_same_two_words() -> None:
    (group,) = [each["spec"]["leaderWorkerTemplate"] for each in BLOCKS if "leaderWorkerTemplate" in each.get("spec", {})]
    leader, worker = (group[side]["spec"]["containers"][0] for side in ("leaderTemplate", "workerTemplate"))
    assert leader["args"] == worker["args"] and leader["args"][-2:] == ["--config", "/etc/attnpin/sglang.yaml"]


def test_ome_is_given_each_flag_as_one_word() -> None:
    (runtime,) = [each["spec"]["supportedModelFormats"] for each in BLOCKS if "supportedModelFormats" in each.get("spec", {})]
    (accelerator,) = runtime[0]["acceleratorConfig"].values()
    assert accelerator["runtimeArgsOverride"] == one_word_each(load_launchers()["sglang"])
