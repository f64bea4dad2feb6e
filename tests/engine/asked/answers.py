"""Asks an SGLang in a process of its own, and holds a resolution against what it answered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.engine.asked.command_line import simulated, words
from tests.engine.asked.models import write
from tests.engine.asked.scenarios import Scenario
from tests.engine.folders import ROOT
from tuner.engines.sglang.resolver.record import Resolution
from tuner.engines.sglang.resolver.steps import resolve

FIELDS = (
    *("base", "draft", "page_size", "kv_dtype", "algorithm", "topk", "steps", "draft_tokens", "verify_side", "dsa_prefill", "dsa_decode"),
    *("mamba_strategy", "decode_graph", "prefill_graph", "radix_cache", "overlap"),
)


@dataclass(frozen=True)
class Answered:
    """``answer``: the fields as SGLang resolved them, or {"error": its message, "kind": the exception}."""

    scenario: Scenario
    answer: dict[str, Any]

    @property
    def refused(self) -> bool:
        return "error" in self.answer


def answered(scenarios: list[Scenario], engine: list[str], folder: Path) -> list[Answered]:
    """``engine``: the folders that hold the SGLang of all these scenarios; the models' configurations are written to ``folder``."""
    write(folder)
    plain = {"machine": {}, "model_path": str(folder / "LlamaForCausalLM"), "arguments": [], "environment": {}}
    questions = [plain, *(_question(scenario, folder) for scenario in scenarios)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*engine, str(ROOT)])}
    command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("ask.py"))]
    asked = "".join(f"{json.dumps(question)}\n" for question in questions)
    done = subprocess.run(command, input=asked, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return [Answered(scenario, answer) for scenario, answer in zip(scenarios, answers, strict=True)]


def _question(scenario: Scenario, folder: Path) -> dict[str, Any]:
    request = scenario.request
    return {
        "machine": simulated(request.machine),
        "model_path": str(folder / scenario.model.name),
        "arguments": words(request, folder),
        "environment": dict(request.environment),
    }


def difference(one: Answered, without: frozenset[str] = frozenset()) -> str:
    """What the rules, but for those in ``without``, say otherwise than SGLang; "" = nothing."""
    resolution = resolve(one.scenario.request, without)
    if resolution.error is not None:
        says = resolution.error.engine_says
        return "" if one.refused and says in one.answer["error"] else f"{resolution.error.rule} refuses, SGLang: {one.answer}"
    if one.refused:
        return f"nothing refuses, SGLang: {one.answer['kind']}: {one.answer['error']}"
    theirs, ours = _theirs(one), _ours(one, resolution)
    return "; ".join(f"{name} is {ours[name]!r}, SGLang's {theirs[name]!r}" for name in ours if ours[name] != theirs[name])


def _ours(one: Answered, resolution: Resolution) -> dict[str, Any]:
    settings = resolution.settings
    return {
        **{name: getattr(settings, name) for name in FIELDS},
        "prefill": resolution.prefill,
        "decode": resolution.decode,
        "chunks": settings.chunk != -1,
        "mem_fraction": _written(one, settings.mem_fraction),
    }


def _theirs(one: Answered) -> dict[str, Any]:
    answer = one.answer
    return {**answer, "chunks": answer["chunk"] != -1, "mem_fraction": _written(one, answer["mem_fraction"])}


def _written(one: Answered, fraction: float | None) -> float | None:
    """A fraction that nobody wrote follows from the GPU's memory, which is another matter."""
    return None if fraction is None or one.scenario.request.mem_fraction_static is None else round(fraction, 6)
