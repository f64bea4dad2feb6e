"""Asks an SGLang in a process of its own, and holds a resolution against what it answered."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.engine_says import EngineSays
from backends.wire import to_plain
from backends.worker.asking import asked
from tests.engine.asked.models import draft_path, write
from tests.engine.asked.scenarios import Scenario
from tests.engine.folders import ROOT
from tuner.engines.sglang.command_line import Paths, options
from tuner.engines.sglang.resolver.outcome import Resolution
from tuner.engines.sglang.resolver.steps import resolve

FIELDS = (
    *("base", "draft", "page_size", "kv_dtype", "algorithm", "topk", "steps", "draft_tokens", "verify_side", "dsa_prefill", "dsa_decode"),
    *("mamba_strategy", "decode_graph", "prefill_graph", "radix_cache", "overlap"),
)


LIMIT_S = 500.0
LEFT_OUT = 8192  # a chunk that nobody wrote


@dataclass(frozen=True)
class Answered:
    scenario: Scenario
    says: EngineSays

    @property
    def refused(self) -> bool:
        return self.says.raised is not None


def answered(scenarios: list[Scenario], engine: list[str], folder: Path) -> list[Answered]:
    """``engine``: the folders that hold the SGLang of all these scenarios; the models' configurations are written to ``folder``."""
    write(folder)
    questions = [question(scenario, folder) for scenario in scenarios]
    says = asked("sglang", questions, LIMIT_S, folder, [*engine, str(ROOT), *sys.path])
    assert not (failures := {one.failure for one in says if one.failure}), failures
    return [Answered(scenario, one) for scenario, one in zip(scenarios, says, strict=True)]


def question(scenario: Scenario, folder: Path) -> dict[str, Any]:
    request = scenario.request
    paths = Paths(str(folder / scenario.model.name), str(draft_path(folder, request.draft.causal)), str(folder / "uno"))
    chunk = [] if request.chunk == LEFT_OUT else ["--chunked-prefill-size", str(request.chunk)]
    return {
        "files": {},
        "arguments": [*(word for option in options(request, paths) for word in option), *chunk],
        "machine": to_plain(request.machine),
        "environment": dict(request.environment),
    }


def difference(one: Answered, without: frozenset[str] = frozenset()) -> str:
    """What the rules, but for those in ``without``, say otherwise than SGLang; "" = nothing."""
    resolution = resolve(one.scenario.request, without)
    if resolution.error is not None:
        says = resolution.error.engine_says
        raised = one.says.raised
        return "" if raised and says in raised.text else f"{resolution.error.rule} refuses, SGLang: {one.says}"
    if one.refused:
        return f"nothing refuses, SGLang: {one.says.raised}"
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
    answer = one.says.resolved or {}
    return {**answer, "chunks": answer["chunk"] != -1, "mem_fraction": _written(one, answer["mem_fraction"])}


def _written(one: Answered, fraction: float | None) -> float | None:
    """A fraction that nobody wrote follows from the GPU's memory, which is another matter."""
    return None if fraction is None or one.scenario.request.mem_fraction_static is None else round(fraction, 6)
