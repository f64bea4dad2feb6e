"""vLLM asked, without one: what cannot be asked is a failure in words. With one: tests/engine/test_vllm.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from backends.engine_says import EngineSays
from backends.vllm.asked import ask, selector
from backends.worker.asking import asked
from tests.tuner.engines.vllm.served import on_vllm
from tests.tuner.scenarios import B200, DSV3, H100, LLAMA, MI300, MIMO
from tuner.engines.vllm.asking import question

RULES = "0.33.0"


def test_a_question_holds_the_fields_of_vllms_selector_for_every_layer_kind() -> None:
    asked_of = question(on_vllm(B200, DSV3, kv_cache_dtype="fp8", page_size=64, tensor_parallel=8), RULES, None, None, True)
    layer = asked_of["layers"]["full"]
    assert (layer["head_size"], layer["use_mla"], layer["use_sparse"], layer["kv_cache_dtype"], layer["block_size"]) == (
        576,
        True,
        False,
        "fp8",
        64,
    )
    assert asked_of["machine"] == {"name": "sm 100", "sm": 100, "memory_bytes": B200.memory_bytes, "sm_count": B200.sm_count}
    assert asked_of["config"]["text_config"]["qk_nope_head_dim"] == 128 and asked_of["heads"] == {"full": 16}
    assert asked_of["environment"] == {} and "FLASHINFER_MLA" in asked_of["judged"] and "FLASH_ATTN" not in asked_of["judged"]


def test_a_checkpoints_own_configuration_is_taken_and_a_gpu_that_is_here_is_not_simulated() -> None:
    config = {"architectures": ["X"], "text_config": {"qk_nope_head_dim": 96}}
    asked_of = question(on_vllm(H100, DSV3, features=("deterministic",)), RULES, None, config, False)
    assert asked_of["machine"] is None and asked_of["config"]["text_config"]["qk_nope_head_dim"] == 96
    assert asked_of["environment"] == {"VLLM_BATCH_INVARIANT": "1"}


@pytest.mark.parametrize(
    ("board", "model", "why"),
    [(MI300, LLAMA, "believe in NVIDIA GPUs alone"), (H100, MIMO, "chooses its backend in its own code")],
)
def test_what_cannot_be_asked_is_said(board: object, model: object, why: str) -> None:
    asked_of = question(on_vllm(board, model), RULES, None, None, True)  # type: ignore[arg-type]
    says = ask.answer(asked_of)
    assert says.failure is not None and why in says.failure


def test_an_environment_without_vllm_answers_with_a_failure() -> None:
    says = ask.answer(question(on_vllm(), RULES, None, None, False))
    assert says == EngineSays(failure="ModuleNotFoundError: No module named 'vllm'")


def test_what_is_no_refusal_of_vllms_own_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def strange(_: object) -> dict[str, object]:
        raise ValueError("somewhere else")

    monkeypatch.setattr(selector, "selected", strange)
    assert ask.answer({"environment": {}, "machine": None}).failure == "ValueError: somewhere else"


def test_an_unknown_layout_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: object) -> dict[str, object]:
        raise selector.UnknownLayout("it has no selector")

    monkeypatch.setattr(selector, "selected", unknown)
    assert "in a way that attnpin does not know: it has no selector" in str(ask.answer({"environment": {}, "machine": None}).failure)


def test_a_process_that_only_asks_answers_on_the_workers_line(tmp_path: Path) -> None:
    """A made-up vllm that refuses with an error of its own."""
    (tmp_path / "vllm" / "config").mkdir(parents=True)
    (tmp_path / "vllm" / "__init__.py").write_text("")
    (tmp_path / "vllm" / "config" / "__init__.py").write_text("")
    (tmp_path / "vllm" / "config" / "vllm.py").write_text("raise ValueError('no valid attention backend')\n")
    (says,) = asked("vllm", [question(on_vllm(), RULES, None, None, False)], 60.0, path=[str(tmp_path), *sys.path])
    assert says.raised is not None and says.raised.text == "no valid attention backend" and says.raised.place == "<module> of vllm.py"


def test_asking_imports_nothing_but_the_standard_library_beforehand() -> None:
    code = "import sys; from backends.vllm.asked import ask; assert not {'torch', 'vllm', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])
