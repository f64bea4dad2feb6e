"""Read by the functions of SGLang 0.5.16's own search, taken out of their module, which would import a tokenizer."""

from __future__ import annotations

import ast
import itertools
import json
import math
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from hypothesis import given

from reports.launchers import auto_benchmark
from store.pins.pin import Pin
from tests.engine.folders import engine_folders
from tests.reports import building
from tests.reports.launchers.hostile import pins
from tuner.exporting.launchers import load_launchers

LAUNCHER = load_launchers()["auto-benchmark"]


@pytest.fixture(scope="module")
def search() -> Any:
    source = next(path for folder in engine_folders("0.5.16") if (path := Path(folder) / "sglang" / "auto_benchmark_lib.py").exists())
    module = ast.parse(source.read_text())
    module.body = [node for node in module.body if isinstance(node, (ast.FunctionDef, ast.Assign))]
    module.body.insert(0, ast.parse("from __future__ import annotations").body[0])
    found: dict[str, Any] = {"itertools": itertools, "json": json, "deepcopy": deepcopy}
    exec(compile(ast.fix_missing_locations(module), str(source), "exec"), found)
    found["detect_current_cuda_capability"] = lambda: None  # no device is here to refuse a backend
    return SimpleNamespace(**found)


def commands(search: Any, text: str) -> list[list[str]]:
    """The options of each server that the search starts."""
    config = yaml.safe_load(text)
    most = search.resolve_max_candidates(config["search"])
    return [search.cli_args(flags) for flags in search.build_server_candidates(config["server"], int(config["search"]["tier"]), most)]


def test_the_search_serves_the_default_the_pin_and_all_between(search: Any) -> None:
    bare = ["--model-path", "MODEL", "--tp-size", "1"]
    decode, prefill = ["--decode-attention-backend", "flashinfer"], ["--prefill-attention-backend", "fa3"]
    found = commands(search, auto_benchmark.render(building.pin(), LAUNCHER))
    assert found[0] == bare
    expected = [bare, [*bare, *prefill], [*bare, *decode], [*bare, *decode, *prefill]]
    assert sorted({tuple(words) for words in found}) == sorted(map(tuple, expected))


def test_requests_are_those_of_the_pins_traffic(search: Any) -> None:
    config = yaml.safe_load(auto_benchmark.render(building.pin(), LAUNCHER))
    load = building.pin().valid_for.requests
    assert load is not None
    (scenario,) = search.expand_dataset_scenarios(search.normalize_dataset_cfg(config["dataset"], config["benchmark"]))
    assert (scenario["cfg"]["input_len"], scenario["cfg"]["output_len"]) == (load.prompt.median_tokens, load.output.median_tokens)
    mode, rates, *_ = search.build_qps_plan(config["benchmark"])
    assert mode == "fixed" and rates == [math.inf] and config["benchmark"]["max_concurrency"] == load.concurrency


def test_a_pin_that_sets_nothing_serves_the_default_alone_and_says_why(search: Any) -> None:
    text = auto_benchmark.render(building.pin(building.kept()), LAUNCHER)
    assert commands(search, text) == [["--model-path", "MODEL", "--tp-size", "1"]]
    assert "  # unset, because with the best arm a step is at most 0.42 % faster\n" in text


def test_an_early_pin_without_lengths_leaves_them_to_the_search(search: Any) -> None:
    pin = building.pin()
    config = yaml.safe_load(auto_benchmark.render(replace(pin, valid_for=replace(pin.valid_for, requests=None)), LAUNCHER))
    assert config["dataset"] == {"kind": "random"} and config["benchmark"] == {"qps": [math.inf]}
    assert search.expand_dataset_scenarios(search.normalize_dataset_cfg(config["dataset"], config["benchmark"]))


@given(pins())
def test_nothing_in_a_pin_breaks_out(pin: Pin) -> None:
    config = yaml.safe_load(auto_benchmark.render(pin, LAUNCHER))
    space = config["server"]["search_space"]
    assert {name.replace("_", "-"): str(value) for name, (_, value) in space.items()} == dict(pin.flags)
    assert all(nothing is None for nothing, _ in space.values()) and set(config) == {"server", "dataset", "benchmark", "search"}
