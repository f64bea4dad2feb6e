"""What a plan makes of SGLang's own answers: asked by a worker, without a GPU, for made-up ones."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from backends.engine_says import EngineSays
from conf import __file__ as conf
from reports.asked import lines
from store.engines.asked import EngineAnswer
from tests.engine.folders import engine_folders
from tuner import cli
from tuner.clock import PhaseClock
from tuner.device.host import Host
from tuner.device.keeper import Keeper
from tuner.engines.heard import Consulted, heard
from tuner.engines.sglang import verbs
from tuner.engines.sglang.asking import question
from tuner.engines.sglang.resolver.versions import READ
from tuner.progress import Progress
from tuner.settings import Settings, compose, gpu_sheets

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]  # the first use of an SGLang unpacks it

MODELS = sorted(path.stem for path in (Path(conf).parent / "model").glob("*.yaml") if path.stem != "hf")
EAGLE = "engine.speculative.algorithm=EAGLE"
# What is written, and prefill, decode, page size and KV dtype that SGLang answers; a text is part of its refusal.
ANSWERS: dict[tuple[str, ...], tuple[str, str, int, str] | str] = {
    ("model=qwen3_8b", "gpu=h200"): ("fa3", "fa3", 1, "bfloat16"),
    ("model=qwen3_8b", "gpu=b200", "engine.tensor_parallel=2"): ("trtllm_mha", "trtllm_mha", 64, "bfloat16"),
    ("model=gpt_oss_20b", "gpu=h200"): ("fa3", "fa3", 1, "bfloat16"),
    ("model=gpt_oss_20b", "gpu=a100_80gb"): ("triton", "triton", 1, "bfloat16"),
    ("model=deepseek_v3", "gpu=h200", "engine.tensor_parallel=8"): ("fa3", "fa3", 1, "bfloat16"),
    ("model=deepseek_v3", "gpu=b200", "engine.tensor_parallel=8", "engine.attn_dp_size=8"): ("trtllm_mla", "trtllm_mla", 64, "bfloat16"),
    ("model=llama3_1_8b", "gpu=h200", EAGLE): ("fa3", "fa3", 1, "bfloat16"),
    ("model=llama3_1_8b", "gpu=h200", EAGLE, *(f"engine.speculative.{word}" for word in ("topk=4", "steps=3", "draft_tokens=8"))): (
        *("flashinfer", "flashinfer", 1, "bfloat16"),
    ),
    ("model=qwen3_8b", "gpu=a100_80gb", "engine.features=[deterministic]"): ("fa3", "fa3", 1, "bfloat16"),
    ("model=qwen3_8b", "gpu=h200", "engine.kv_cache_dtype=fp8_e5m2"): ("triton", "triton", 1, "float8_e5m2"),
    ("model=qwen3_8b", "gpu=h200", "engine.role=decode", "engine.decode_attention_backend=flashinfer", "engine.page_size=16"): (
        *("flashinfer", "flashinfer", 16, "bfloat16"),
    ),
    ("model=qwen3_8b", "gpu=h200", "engine.attention_backend=trtllm_mla"): "only supported on Blackwell",
    ("model=gpt_oss_20b", "gpu=h200", "engine.decode_attention_backend=triton"): "Prefill: None - Decode: triton",
    ("model=qwen3_8b", "gpu=h200", "engine.context_length=1000000"): "greater than the derived context_length",
}
NO_RULE_YET = {("model=qwen3_8b", "gpu=h200", "engine.context_length=1000000")}


@dataclass(frozen=True)
class Told:
    """What one SGLang said, all of it in one process: to `ANSWERS` as they are and with their options in another order, and to every
    preset on a GPU of every kind."""

    answers: tuple[EngineAnswer, ...]
    says: tuple[EngineSays, ...]
    shuffled: tuple[EngineSays, ...]
    presets: dict[tuple[str, str], EngineAnswer]


@pytest.fixture(scope="module", params=READ)
def told(request: Any) -> Told:
    """By a worker with this SGLang on its path."""
    written, presets = [_composed(*overrides) for overrides in ANSWERS], _presets()
    settings = [_of_release(request.param, one) for one in (*written, *presets)]
    questions = [question(one.scenario, request.param, None, None, simulated=True) for one in settings]
    shuffled = [{**one, "arguments": _shuffled(one["arguments"])} for one in questions[: len(ANSWERS)]]
    engine = replace(settings[0].scenario.engine, path=tuple(engine_folders(request.param)))
    with Progress() as progress, Keeper(Host(engine), progress, PhaseClock()) as keeper:
        says = keeper.says("sglang", [*questions, *shuffled], settings[0].ask_limit_s)
    answers = [_answer(one, says) for one, says in zip(settings, says)]
    names = [(one.scenario.model.name, one.scenario.gpu.name) for one in presets]
    return Told(
        answers=tuple(answers[: len(ANSWERS)]),
        says=says[: len(ANSWERS)],
        shuffled=says[len(questions) :],
        presets=dict(zip(names, answers[len(ANSWERS) :], strict=True)),
    )


def _presets() -> list[Settings]:
    composed = [_composed(f"model={model}", "gpu=h200") for model in MODELS]
    gpus = {(gpu.kind, gpu.sm, gpu.amx, gpu.arch): gpu for gpu in gpu_sheets()}.values()
    return [replace(one, scenario=replace(one.scenario, gpu=gpu)) for one in composed for gpu in gpus]


@cache
def _composed(*overrides: str) -> Settings:
    return compose(list(overrides))


def _of_release(version: str, settings: Settings) -> Settings:
    scenario = settings.scenario
    return replace(settings, scenario=replace(scenario, engine=replace(scenario.engine, version=version)))


def _shuffled(words: list[str]) -> list[str]:
    """The options in another order, each with its values."""
    starts = [index for index, word in enumerate(words) if word.startswith("--")]
    options = [words[start:end] for start, end in zip(starts, [*starts[1:], len(words)], strict=True)]
    random.Random(7).shuffle(options)
    return [word for option in options for word in option]


def _answer(settings: Settings, says: EngineSays) -> EngineAnswer:
    scenario, entries = settings.scenario, settings.entries
    version = scenario.engine.version
    settled = verbs.settled(scenario, entries, version)
    answer = heard(scenario, entries, settled, Consulted(version, scenario.gpu.name, says)).default.asked
    assert answer is not None
    return answer


def test_sglang_answers_scenarios_of_every_kind_and_the_rules_agree(told: Told) -> None:
    for (overrides, expected), found in zip(ANSWERS.items(), told.answers, strict=True):
        if isinstance(expected, str):
            assert found.refusal is not None and expected in found.refusal, overrides
        else:
            assert (found.prefill, found.decode, found.page_size, found.kv_cache_dtype) == expected, (overrides, found)
        assert not found.differences or overrides in NO_RULE_YET, (overrides, found)


def test_every_preset_on_every_kind_of_gpu_is_served_as_the_rules_say(told: Told) -> None:
    assert len(told.presets) > 150
    assert {pair: lines(one, "sglang") for pair, one in told.presets.items() if one.failure or one.differences} == {}


def test_the_order_of_the_options_changes_nothing(told: Told) -> None:
    assert told.shuffled == told.says


@pytest.mark.parametrize("version", ["0.5.16", "0.5.22"])
def test_a_plan_tells_what_sglang_said(version: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = _planned(capsys, engine_folders(version))
    assert f"SGLang {version} itself was asked (simulated NVIDIA H200): prefill fa3, decode fa3, page size 1, KV dtype bfloat16" in told


def test_an_engine_whose_resolver_was_changed_is_believed_and_the_difference_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine, *others = engine_folders("0.5.22")
    changed = tmp_path / "sglang/srt/arg_groups/model_override_base.py"
    _doctored(Path(engine), changed, tmp_path)
    changed.write_text(changed.read_text().replace('return "fa3"', 'return "triton"'))
    told = _planned(capsys, [str(tmp_path), engine, *others])
    assert "SGLang 0.5.22 would pick by itself: triton" in told
    assert {f"{phase}: SGLang triton, attnpin's rules fa3; SGLang's answer is used" for phase in ("prefill", "decode")} <= set(told)
    assert any(line.split()[:2] == ["triton", "engine"] and line.endswith("the default") for line in told)


def _planned(capsys: pytest.CaptureFixture[str], path: list[str]) -> list[str]:
    assert cli.run(["plan", "model=qwen3_8b", "gpu=h200", f"engine.path=[{','.join(path)}]"]) == 0
    return [line.strip() for line in capsys.readouterr().out.splitlines()]


def _doctored(engine: Path, file: Path, overlay: Path) -> None:
    """An overlay that is the engine's SGLang but for a copy of ``file``, links to everything else."""
    for about in engine.glob("sglang-*.dist-info"):
        (overlay / about.name).symlink_to(about)
    for folder in reversed(file.relative_to(overlay).parents[:-1]):
        (overlay / folder).mkdir()
        kept = set(file.relative_to(overlay).parts)
        for each in (engine / folder).iterdir():
            if each.name not in kept and each.name != "__pycache__":
                (overlay / folder / each.name).symlink_to(each)
    file.write_text((engine / file.relative_to(overlay)).read_text())
