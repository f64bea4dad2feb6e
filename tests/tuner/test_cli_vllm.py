"""vLLM as the engine of a command: what its rules say is printed, and nothing pretends to measure it."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.plan import render_text
from tuner.cli import run
from tuner.command_line.hydra_app import run as tune
from tuner.commands.measuring import tune_with
from tuner.plan import make_plan
from tuner.settings import compose

FEW = ["engine=vllm", "backend=[vllm/flash_attn]"]  # where no other matters
ON_H200 = ["engine=vllm", "gpu=h200", "model=qwen3_8b"]


def test_a_plan_names_vllms_pick_the_order_it_comes_from_and_why_the_rest_is_refused() -> None:
    plan = make_plan(compose(ON_H200))
    assert plan.arms == () and plan.default.decode == "FLASH_ATTN" and plan.server.captured_batches[-1] == 512
    assert all(reason.asked and reason.allowed and reason.source for one in plan.exclusions for reason in one.reasons)
    printed = render_text(plan)
    assert "vLLM 0.33.0 would pick by itself: FLASH_ATTN" in printed
    assert "cuda.dense: tries FLASH_ATTN, FLASHINFER, TRITON_ATTN, FLEX_ATTENTION, TURBOQUANT" in printed
    assert "Excluded, since sm 90 is asked" in printed and "B12X" in printed
    assert "HPC_ATTN would run with page size 64, not the default" in printed
    assert "SGLang" not in printed


def test_a_tree_is_no_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "--tree", *FEW, "gpu=h200"]) == 2
    assert capsys.readouterr().err == "attnpin: vLLM has no default tree: it takes the first of a list; run plan without --tree\n"


def test_nothing_is_measured_and_that_is_said_before_a_worker_starts(capfd: pytest.CaptureFixture[str]) -> None:
    assert tune([*FEW, "engine.command=[/nowhere/python3]"], tune_with, debug=False) == 3
    said = capfd.readouterr().err
    assert said.startswith("attnpin: nothing is measured: attnpin has no driver for any of the backends chosen of vLLM")
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("command", [["compare", "--candidate", "present"], ["calibrate"], ["audit"]], ids=lambda words: words[0])
def test_no_other_command_measures_it_either(command: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = [*command, *FEW, "engine.command=[/nowhere/python3]", f"store.url=sqlite:///{tmp_path}/none.db"]
    assert run(words) == 3 and not (tmp_path / "none.db").exists()
    said = capfd.readouterr()
    assert said.out == "" and said.err.startswith("attnpin: nothing is measured: attnpin has no driver")


def test_the_limits_are_those_of_the_engine(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["limits", *FEW, "--md"]) == 0
    printed = capsys.readouterr().out
    assert (
        printed.startswith("# Limits of the 1 attention backend of vLLM 0.33.0\n")
        and "Made by `attnpin limits engine=vllm --md`" in printed
    )
    assert "| FLASH_ATTN | multiples of 16" in printed


def test_documentation_is_compared_for_one_engine_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["limits", "--drift", *FEW]) == 2
    assert "compares what is written of SGLang" in capsys.readouterr().err


def test_a_backend_of_ones_own_stands_beside_vllms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "backend").mkdir()
    entry = '# @package backends.MINE\nengine: vllm\nsource: my wiki\nlimits: [{rule: block_size, allowed: ["32n"], becomes: 32}]\n'
    (tmp_path / "backend" / "mine.yaml").write_text(entry)
    chosen = "backend=[vllm/flash_attn,mine]"
    assert run(["plan", *ON_H200, chosen, "engine.attention_backend=MINE", "--config-dir", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "would run MINE: your choice (engine.attention_backend=MINE) is kept" in printed and "page size 32" in printed


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["engine.name=vllm", "backend=[triton]"], "choose the engine with engine=vllm, which brings its own"),
        (["engine=vllm", "backend=[triton]"], "triton among the backends chosen is not vLLM's"),
        ([*FEW, "engine.kv_cache_dtype=mxfp8"], "engine.kv_cache_dtype=mxfp8 is no word of vLLM's; did you mean fp8?"),
        (["backend=[triton]", "engine.kv_cache_dtype=fp8"], "engine.kv_cache_dtype=fp8 is no word of SGLang's; did you mean fp8_e4m3"),
        ([*FEW, "engine.decode_attention_backend=FLASHINFER"], "is a setting of SGLang's, and engine.name is vllm"),
        ([*FEW, "engine.attention_backend=fa3"], "engine.attention_backend names 'fa3', which is not among the backends chosen"),
    ],
)
def test_what_belongs_to_another_engine_is_refused(overrides: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "gpu=h200", *overrides]) == 2
    assert said in capsys.readouterr().err
