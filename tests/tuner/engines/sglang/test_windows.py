"""Windows that SGLang's classes do not apply, and those whose KV has a pool of its own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.model import LayerKind
from tests.asking import entries, model
from tests.tuner.scenarios import ENGINE, GEMMA3, LLAMA, engine, scenario
from tuner.engines.sglang.memory import server_for
from tuner.engines.sglang.questions import rank_layers
from tuner.engines.sglang.windows import served_model, window_note, window_pool_share
from tuner.plan import plan_of

WINDOW = LayerKind("window", 32, 32, 8, 128, 128, 4096)
MISTRAL = model(WINDOW, architecture="MistralForCausalLM")
QWEN2 = model(LayerKind("full", 21, 28, 4, 128, 128), LayerKind("window", 7, 28, 4, 128, 128, 4096), architecture="Qwen2ForCausalLM")


def test_an_engine_that_ignores_the_window_serves_full_attention() -> None:
    assert served_model(MISTRAL).layers == (LayerKind("full", 32, 32, 8, 128, 128),)
    assert rank_layers(scenario(asked=MISTRAL, tensor_parallel=4)) == (LayerKind("full", 32, 8, 2, 128, 128),)


def test_kinds_that_differ_in_the_window_alone_become_one() -> None:
    assert served_model(QWEN2).layers == (LayerKind("full", 28, 28, 4, 128, 128),)


def test_kinds_that_differ_otherwise_stay_apart() -> None:
    wide = LayerKind("wide", 2, 64, 8, 128, 128)
    assert [kind.name for kind in served_model(model(WINDOW, wide, architecture="MistralForCausalLM")).layers] == ["full", "full-2"]


def test_windows_that_are_applied_and_models_without_any_are_left_alone() -> None:
    assert served_model(GEMMA3) is GEMMA3 and served_model(LLAMA) is LLAMA
    assert window_note(GEMMA3) is window_note(LLAMA) is None


def test_the_plan_says_that_the_window_is_not_applied() -> None:
    plan = plan_of(scenario(asked=MISTRAL), tuple(entries().values()))
    assert "SGLang serves MistralForCausalLM without its sliding window of 4096: its 32 layers are planned as full attention" in plan.notes
    assert all(weighted.cell.layer.sliding_window is None for weighted in plan.cells)
    assert plan.scenario.model == MISTRAL


MIXED = (LayerKind("window", 18, 64, 8, 64, 64, 128), LayerKind("full", 18, 64, 8, 64, 64))
POOLED = model(*MIXED, architecture="GptOssForCausalLM")


@pytest.mark.parametrize("rules", ["0.5.16", "0.5.22", "0.5.23"])
def test_a_pool_of_their_own_holds_fewer_tokens_of_window_layers(rules: str) -> None:
    pooled, shared = (server_for(scenario(asked=replace(POOLED, architecture=name)), rules, 1) for name in (POOLED.architecture, "OtherLM"))
    assert pooled.kv_bytes_per_token == shared.kv_bytes_per_token == 36 * 8 * 128 * 2  # a token that no window has dropped yet
    assert pooled.pool_tokens is not None and shared.pool_tokens is not None
    assert pooled.pool_tokens == pytest.approx(shared.pool_tokens * 36 / (18 + 0.8 * 18), rel=1e-5)


def test_one_pool_for_all_layers_has_no_share_of_windows() -> None:
    assert window_pool_share(POOLED, ENGINE) == 0.8
    assert window_pool_share(replace(POOLED, architecture="InklingForConditionalGeneration"), ENGINE) == 0.1
    assert window_pool_share(GEMMA3, ENGINE) == window_pool_share(LLAMA, ENGINE) == 1.0
    assert window_pool_share(replace(POOLED, layers=MIXED[:1]), ENGINE) == 1.0  # nothing to share the memory with


def test_the_windows_pool_is_as_large_as_the_user_says_or_none_of_its_own() -> None:
    assert window_pool_share(POOLED, engine(swa_full_tokens_ratio=0.25)) == 0.25
    assert window_pool_share(POOLED, engine(swa_full_tokens_ratio=0.25, disable_hybrid_swa_memory=True)) == 1.0
    step = replace(POOLED, architecture="Step3p5ForCausalLM")
    assert [window_pool_share(one, engine(hierarchical_cache=True)) for one in (POOLED, step)] == [0.8, 1.0]
