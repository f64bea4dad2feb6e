"""Exported pins read by SGLang itself: three releases take the flags, in every form, and serve the pair and page size that were pinned."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from backends.engine_says import EngineSays
from backends.worker.asking import asked
from reports.launchers.must_follow import KV_DTYPE
from tests.engine.asked.answers import question
from tests.engine.asked.models import write
from tests.engine.exported.pins import PAGE_SIZE, Pinned, pinned
from tests.engine.folders import ROOT, engine_folders
from tests.reports.launchers.carried import carried
from tests.reports.launchers.hostile import words
from tuner.engines.sglang.resolver.versions import READ
from tuner.exporting.launchers import load_launchers

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]  # the first use of an SGLang unpacks it

COUNT, LIMIT_S, SHOWN = 500, 300.0, 10
ENTRY = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from tests.engine.exported import merged; merged.main()"
SGLANG, YAML = (load_launchers()[name] for name in ("sglang", "sglang-yaml"))


@dataclass(frozen=True)
class Heard:
    pins: list[Pinned]
    says: tuple[EngineSays, ...]
    merged: list[list[str]]


@pytest.fixture(scope="module", params=READ)
def heard(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Heard:
    """What one release says to its pins."""
    pins, folder = pinned(request.param, COUNT), tmp_path_factory.mktemp("exports")
    write(folder)
    path = [*engine_folders(request.param), str(ROOT), *filter(None, sys.path)]
    return Heard(pins, asked("sglang", [_question(one, folder) for one in pins], LIMIT_S, folder, path), _merged(pins, folder, path))


def _question(one: Pinned, folder: Path) -> dict[str, Any]:
    """The server that the pin is for, started with the exported flags."""
    flags, request = words(one.pin, SGLANG), one.request
    if f"--{KV_DTYPE}" in flags:
        request = replace(request, kv_cache_dtype="auto")
    asked_for = question(replace(one.scenario, request=request), folder)
    return {**asked_for, "arguments": [*asked_for["arguments"], *flags]}


def _merged(pins: list[Pinned], folder: Path, path: list[str]) -> list[list[str]]:
    """The command line that the release's own `--config` makes of each exported file."""
    files = [folder / f"pin-{index}.yaml" for index in range(len(pins))]
    for file, one in zip(files, pins):
        file.write_text(YAML.render(one.pin, YAML))
    command = [sys.executable, "-W", "ignore", "-c", ENTRY, json.dumps(path)]
    done = subprocess.run(command, input="".join(f"{file}\n" for file in files), cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_pinned_pair_and_page_size_are_served(heard: Heard) -> None:
    assert len(heard.pins) == COUNT
    found = [f"{said}: {words(one.pin, SGLANG)}, {one.request}" for one, says in zip(heard.pins, heard.says) if (said := unlike(one, says))]
    assert not found, f"{len(found)} of {COUNT} differ:\n" + "\n".join(found[:SHOWN])


def unlike(one: Pinned, says: EngineSays) -> str:
    """What is served otherwise; "" = nothing."""
    if says.resolved is None:
        return str(says)
    wanted = {**{phase: getattr(one.pair, phase) for phase in one.phases}, "page_size": one.pin.valid_for.page_size}
    served = {**says.resolved, "page_size": says.resolved["page_size"] or PAGE_SIZE}
    return ", ".join(f"{name} is {served[name]}, not {value}" for name, value in wanted.items() if served[name] != value)


def test_sglangs_own_config_file_says_the_same_words(heard: Heard) -> None:
    assert [words(one.pin, SGLANG) for one in heard.pins] == [line[: line.index("--model-path")] for line in heard.merged]


def test_every_other_form_carries_the_same_words(heard: Heard) -> None:
    for one in heard.pins:
        assert set(map(tuple, carried(one.pin).values())) == {tuple(words(one.pin, SGLANG))}


def test_pins_of_every_kind_were_there(heard: Heard) -> None:
    flags = [dict(one.pin.flags) for one in heard.pins]
    backends = {value for each in flags for name, value in each.items() if name.endswith("attention-backend")}
    pages, left = sum("page-size" in each for each in flags), sum(map(len, (one.left for one in heard.pins)))
    print(f"\nSGLang: {COUNT} pins of {len(backends)} backends, {pages} with a page size, {left} where it is not written out")
    assert len(backends) > 10 and pages > COUNT / 10 and left > 0
    assert sum(KV_DTYPE in each for each in flags) > 5
    assert sum(one.pair.prefill != one.pair.decode for one in heard.pins) > COUNT / 10
    assert any(len(one.phases) == 1 for one in heard.pins)
