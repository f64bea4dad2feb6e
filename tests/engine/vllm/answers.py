"""Asks a vLLM in a process of its own, and holds attnpin's rules against what it answered."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.asked import Asked
from backends.capability import DECISIVE, BackendEntry
from backends.engine_says import EngineSays
from backends.judgement import judge
from backends.reason import Reason
from backends.wire import from_plain
from store.scenario import Scenario
from tests.engine.folders import ROOT
from tuner.engines.vllm import verbs
from tuner.engines.vllm.asking import question

RULES = "0.33.0"
ENTRY = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from tests.engine.vllm import stand_ins; stand_ins.main()"
# vLLM's fixed words for a reason, and the limit that says the same; other texts are of one backend alone.
SAYS = {
    "head_size not supported": "head_size",
    "dtype not supported": "dtype",
    "kv_cache_dtype not supported": "kv_flag",
    "block_size not supported": "block_size",
    "partial multimodal token full attention not supported": "images",
    "attention sinks not supported": "sinks",
    "sparse not supported": "keys",
    "non-sparse not supported": "keys",
    "compute capability not supported": "sm",
    "attention type encoder_only not supported": "encoder_only",
    "attention type encoder_decoder not supported": "cross_attention",
    "sliding window not supported": "sliding_window",
    "batch invariance not supported": "deterministic",
    "PCP not supported": "attn_cp_size",
    "DCP not supported": "dcp_size",
}


@dataclass(frozen=True)
class Answered:
    """``rejected``: why each backend that was judged may not serve, empty where it may."""

    scenario: Scenario
    says: EngineSays
    rejected: dict[str, list[str]]


def answered(scenarios: Sequence[Scenario], folders: Sequence[str], folder: Path) -> list[Answered]:
    """``folders`` hold the vLLM; the process works in ``folder``."""
    path = json.dumps([*folders, str(ROOT), *filter(None, sys.path)])
    questions = [question(scenario, RULES, None, None, True) for scenario in scenarios]
    asked = [*({**one, "judged": []} for one in questions), *({**one, "judge_alone": True} for one in questions)]
    lines = "".join(f"{json.dumps(one)}\n" for one in asked)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", ENTRY, path], input=lines, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    says = [from_plain(EngineSays, json.loads(line)) for line in done.stdout.splitlines()]
    assert not (failures := {one.failure for one in says if one.failure}), failures
    picks, judgements = says[: len(scenarios)], [(one.resolved or {})["rejected"] for one in says[len(scenarios) :]]
    return [Answered(*one) for one in zip(scenarios, picks, judgements, strict=True)]


def difference(one: Answered, entries: tuple[BackendEntry, ...]) -> str:
    """What the rules pick otherwise than vLLM; "" = nothing."""
    settled, says = verbs.settled(one.scenario, entries, RULES), one.says
    if says.raised or settled.refusals:
        return "" if says.raised and settled.refusals else f"vLLM: {says.raised}, the rules: {settled.refusals}"
    theirs: dict[str, Any] = says.resolved or {}
    ours = {"decode": settled.default.decode, "page_size": settled.default.page_size}
    return "; ".join(f"{name} is {ours[name]}, vLLM's {theirs[name]}" for name in ours if ours[name] != theirs[name])


def reasons_of(one: Answered, entries: dict[str, BackendEntry]) -> dict[str, tuple[Reason, ...]]:
    """What the limits say of each backend that vLLM judged."""
    asked = Asked(verbs.question_for(one.scenario, RULES, verbs.default_page_size(one.scenario.gpu)))
    return {name: judge(entries[name].capability, asked).reasons for name in one.rejected}


def unlike(one: Answered, entries: dict[str, BackendEntry]) -> Iterator[str]:
    """Backends that the limits judge otherwise, or for another reason."""
    for name, ours in reasons_of(one, entries).items():
        theirs, rules = one.rejected[name], {reason.rule for reason in ours}
        if bool(theirs) != bool(ours):
            yield f"{name}: {sorted(rules) or 'taken'}, vLLM: {theirs or 'taken'}"
        elif not rules & set(DECISIVE) and not {SAYS[text] for text in theirs if text in SAYS} <= rules:
            yield f"{name}: for {sorted(rules)}, vLLM: {theirs}"
