from __future__ import annotations

from dataclasses import replace

from backends.simulated.world import MARK
from reports.launchers.header import header
from tests.reports import building
from tuner.exporting.launchers import load_launchers

ENV = load_launchers()["env"]


def test_the_header_names_tool_run_machine_versions_hashes_and_the_check() -> None:
    assert header(building.pin(), ENV) == (
        "attnpin 0.1.0, run 7f3a9c, 2026-11-30T02:08:00Z",
        "measured on NVIDIA H200, sm 90, driver 580.95.05; SGLang 0.5.16, flashinfer-python 0.6.14, torch 2.11.0+cu130; "
        "tensor parallel 1, KV cache bfloat16, page size 1; model qwen3_8b, chat traffic: 64 at once, prompts of 1000 tokens (p95 6000), "
        "outputs of 250 (p95 800), 30 % of prompt tokens cached; decide.objective=throughput, engine.context_length=32768",
        "content hashes: flashinfer-python 0a1b2c3d4e5f, torch 0a1b2c3d4e5f",
        "check again after any change of these: attnpin check --pin pin.yaml --fast",
        f"--to env was written for SGLang >=0.5.16,<0.6 (read in 0.5.16, 0.5.22 and 0.5.23); its form read in {ENV.carrier}",
    )


def test_the_check_names_the_pins_own_file() -> None:
    pin = replace(building.pin(), evidence=("qwen3.evidence.jsonl.zst", "ab12"))
    assert header(pin, ENV)[-2].endswith("attnpin check --pin qwen3.yaml --fast")


def test_of_a_pin_of_a_simulated_gpu_no_command_is_written_that_would_be_refused() -> None:
    pin = building.pin()
    pin = replace(pin, valid_for=replace(pin.valid_for, gpu=f"{MARK}NVIDIA H200"))
    assert header(pin, ENV)[-2] == "check again after any change of these"


def test_without_distributions_there_is_no_line_of_hashes() -> None:
    pin = building.pin()
    assert len(header(replace(pin, valid_for=replace(pin.valid_for, distributions=())), ENV)) == 4
