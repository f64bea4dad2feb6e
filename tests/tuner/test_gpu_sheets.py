"""The sheets of conf/gpu: figures that hang together, a plan on each, and the default SGLang has there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from omegaconf import OmegaConf

import conf
from backends.gpu import KINDS, MEASURED_KINDS, Gpu
from backends.question import KNOWN_SM
from backends.wire import from_plain
from reports.plan import render_text
from store.plan import Plan
from tests.asking import entries
from tests.tuner.scenarios import LLAMA, scenario
from tuner.composing import names
from tuner.plan import make_plan, plan_of
from tuner.schema.gpu import GpuKind, GpuNode
from tuner.settings import compose, gpu_sheets

OPTIONS = tuple(option for option in names.groups()["gpu"] if option != "auto")
SHEETS = dict(zip(OPTIONS, gpu_sheets(), strict=True))
ALL = tuple(entries().values())
KIB = 1024
# CUDA C++ Programming Guide, technical specifications per compute capability: opt-in maximum of a block
SHARED_MEMORY_KIB = {80: 163, 86: 99, 89: 99, 90: 227, 100: 227, 103: 227, 120: 99, 121: 99}

# facts of SGLang 0.5.22 for a plain GQA model: sglang/srt/arg_groups/model_override_base.py and platform_hook.py
DEFAULTS = {
    **dict.fromkeys(("h100_sxm", "h100_pcie", "h100_nvl", "h20", "h200", "simulated", "replay"), "fa3"),
    **dict.fromkeys(("a100_40gb", "a100_80gb", "a10g", "l4", "l40s", "rtx_4090"), "flashinfer"),
    **dict.fromkeys(("rtx_5090", "rtx_pro_6000", "gb10"), "flashinfer"),
    **dict.fromkeys(("b200", "b300", "gb200"), "trtllm_mha"),
    **dict.fromkeys(("mi300x", "mi355x"), "aiter"),
    **dict.fromkeys(("xpu_max1550", "xpu_b580"), "triton"),
    **dict.fromkeys(("cpu_x86", "cpu_arm64", "apple_mps"), "torch_native"),
    "cpu_x86_amx": "intel_amx",
    "ascend_910b": "ascend",
}


def plan_on(option: str) -> Plan:
    return plan_of(scenario(SHEETS[option], replace(LLAMA, name="qwen3_8b")), ALL)


def test_the_words_of_the_schema_are_those_of_the_record() -> None:
    assert {kind.name for kind in GpuKind} == {"auto", *KINDS}


def test_no_two_sheets_bear_one_name() -> None:
    assert len({sheet.name for sheet in SHEETS.values()}) == len(SHEETS)


@pytest.mark.parametrize("option", OPTIONS)
def test_the_figures_of_a_sheet_hang_together(option: str) -> None:
    sheet = SHEETS[option]
    assert sheet.source and (sheet.kind == "cuda") == (sheet.sm is not None) and (sheet.arch is None) == (sheet.kind == "cuda")
    known = (sheet.memory_bytes, sheet.sm_count, sheet.l2_bytes, sheet.bandwidth_bytes_per_s, sheet.peak_flops)
    assert all(value is None or value > 0 for value in known)
    if sheet.sm is not None:
        assert sheet.sm in KNOWN_SM and sheet.smem_per_block_bytes == SHARED_MEMORY_KIB[sheet.sm] * KIB


@pytest.mark.parametrize("option", [option for option, sheet in SHEETS.items() if sheet.peak_flops_fp8 and sheet.peak_flops])
def test_fp8_is_twice_as_fast_as_bfloat16_and_no_figure_is_one_with_sparsity(option: str) -> None:
    sheet = SHEETS[option]
    assert sheet.peak_flops is not None and sheet.peak_flops_fp8 is not None
    assert 1.98 < sheet.peak_flops_fp8 / sheet.peak_flops < 2.03


@pytest.mark.parametrize("option", OPTIONS)
def test_every_sheet_is_planned_with_the_engines_default_for_it(option: str) -> None:
    plan = plan_on(option)
    assert (plan.default.prefill, plan.default.decode) == (DEFAULTS[option], DEFAULTS[option])
    text = render_text(plan)
    assert f"SGLang 0.5.22 would pick by itself: {DEFAULTS[option]}" in text and SHEETS[option].name in text


@pytest.mark.parametrize("option", [option for option, sheet in SHEETS.items() if sheet.kind not in MEASURED_KINDS])
def test_where_nothing_can_be_measured_the_plan_says_so_and_costs_nothing(option: str) -> None:
    plan = plan_on(option)
    assert plan.arms == () and (plan.estimate.seconds, plan.estimate.memory_bytes) == (None, None)
    assert plan.fatal == (f"a plan is all there is for {SHEETS[option].name}: attnpin measures on NVIDIA GPUs and on CPUs",)
    assert plan.beforehand == () and "Cost of a run" not in render_text(plan)


@pytest.mark.parametrize("option", OPTIONS)
def test_every_sheet_fits_the_schema(option: str) -> None:
    sheet = OmegaConf.load(Path(conf.__file__).parent / "gpu" / f"{option}.yaml")
    merged = OmegaConf.to_container(OmegaConf.merge(OmegaConf.structured(GpuNode), sheet), enum_to_str=True)
    assert from_plain(Gpu, {key: value for key, value in merged.items() if key != "simulated"}) == SHEETS[option]


def test_a_sheet_is_chosen_by_its_name_and_planned() -> None:
    settings = compose(["gpu=mi300x", "model=qwen3_8b"])
    assert settings.scenario.gpu == SHEETS["mi300x"]
    assert make_plan(settings).default.decode == "aiter"


def test_the_sheet_of_a_name_is_found_without_reading_all() -> None:
    found = {gpu.name: gpu_sheets(gpu.name) for gpu in SHEETS.values()}
    assert all(gpu in found[gpu.name] for gpu in SHEETS.values()) and max(map(len, found.values())) < len(SHEETS) / 4
    assert gpu_sheets("a GPU that nobody knows") == ()
