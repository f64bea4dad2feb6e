"""The forms that attnpin brings: what was exported as a file can be merged into later."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reports.launchers.launcher import Launcher, entries_of
from reports.merging.block import dotted
from reports.merging.errors import MergeError
from reports.merging.merge import merge
from store.pins.pin import Pin
from tests.reports import building
from tuner.exporting.launchers import load_launchers

YAML_FORMS = {name: launcher for name, launcher in load_launchers().items() if launcher.places}
BECAUSE = "it costs $HOME, {{ .Values }} and 41 us"


def pin_for(launcher: Launcher, **values: str) -> Pin:
    flags = tuple(sorted(values.items()))
    holds = replace(building.pin().valid_for, engine=launcher.engine)
    return replace(
        building.pin(), engine=launcher.engine, flags=flags, because=tuple((name, BECAUSE) for name, _ in flags), valid_for=holds
    )


def two_pins(launcher: Launcher) -> tuple[Pin, Pin]:
    first, second = [name for name in launcher.flags if name.endswith("backend")][:2]
    return pin_for(launcher, **{first: "FLASHINFER", second: "FLASH_ATTN"}), pin_for(launcher, **{first: "TRITON_ATTN"})


@pytest.mark.parametrize("name", YAML_FORMS)
def test_an_exported_file_has_it_already_and_follows_a_later_pin(name: str) -> None:
    launcher = YAML_FORMS[name]
    now, later = two_pins(launcher)
    exported = launcher.render(now, launcher)
    assert merge(exported, now, launcher).text == exported
    found = merge(exported, later, launcher)
    changed = {change.key: change.after for change in found.changes}
    assert changed == {dotted(entry): entry.text for entry in entries_of(later, launcher)} | {
        dotted(entry): None for entry in entries_of(now, launcher) if entry.path not in [each.path for each in entries_of(later, launcher)]
    }
    assert merge(found.text, later, launcher).text == found.text


@pytest.mark.parametrize("name", YAML_FORMS)
def test_an_exported_file_that_sets_nothing_takes_a_later_pin(name: str) -> None:
    launcher = YAML_FORMS[name]
    nothing = replace(pin_for(launcher), unset="no arm beat the default")
    exported, (now, _) = launcher.render(nothing, launcher), two_pins(launcher)
    found = merge(exported, now, launcher)
    assert {change.key for change in found.changes} >= {dotted(entry) for entry in entries_of(now, launcher)}


def test_the_forms_are_those_that_the_help_names() -> None:
    assert set(YAML_FORMS) == {"sglang-yaml", "vllm-yaml", "slurm", "compose", "kubernetes"}


LEADER_AND_WORKERS = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
spec:
  leaderWorkerTemplate:
    size: 2
    leaderTemplate:
      spec:
        containers:
          - name: leader  # the head
            command:
              - python3
              - -m
              - sglang.launch_server
              - --model-path
              - M
    workerTemplate:
      spec:
        containers:
          - name: worker
            command:
              - python3
              - -m
              - sglang.launch_server
              - --model-path
              - M
"""
PLACES = [f"spec.leaderWorkerTemplate.{part}Template.spec.containers.0.command" for part in ("leader", "worker")]


def test_leader_and_workers_are_told_apart_and_get_the_same_flags() -> None:
    launcher = YAML_FORMS["kubernetes"]
    now, _ = two_pins(launcher)
    with pytest.raises(MergeError, match=", ".join(PLACES)):
        merge(LEADER_AND_WORKERS, now, launcher)
    both = merge(LEADER_AND_WORKERS, now, launcher, at=PLACES).text
    for entry in entries_of(now, launcher):
        assert both.count(f"              - --{dotted(entry)}\n              - {entry.text}\n") == 2
    assert "{ {" in both and "{{" not in both  # Helm reads it in comments too
    assert merge(both, replace(now, flags=(), because=(), unset="so"), launcher, at=PLACES).text == LEADER_AND_WORKERS


def test_dollars_are_doubled_where_compose_would_replace_them() -> None:
    launcher = YAML_FORMS["compose"]
    now, _ = two_pins(launcher)
    text = merge("services:\n  s:\n    command:\n      - sglang\n      - serve\n", now, launcher).text
    assert "it costs $$HOME" in text and merge(text, now, launcher).text == text
