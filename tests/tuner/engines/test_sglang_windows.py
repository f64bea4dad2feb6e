"""Windows that SGLang's classes do not apply."""

from __future__ import annotations

from backends.model import LayerKind
from tests.asking import entries, model
from tests.tuner.planning import GEMMA3, LLAMA, scenario
from tuner.engines.sglang_questions import rank_layers
from tuner.engines.sglang_windows import served_model, window_note
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
