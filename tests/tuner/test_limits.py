from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backends.arm import Arm, Provider
from backends.cell import Phase
from backends.gpu import Gpu
from backends.model import Model
from store.plan import PageSize
from store.scenario import NO_DRIVER, NOT_SELECTED
from tests.asking import NAMES, REMOVED, entries, gpu
from tests.tuner.scenarios import B200, CPU, DSV3, H100, LLAMA, scenario
from tuner.engines.sglang.pick import default_pick
from tuner.limiting.drivers import imports_of, tools_of
from tuner.limits import Sifted, serves, sift

ALL = tuple(entries().values())
FLOAT = replace(LLAMA, dtype="float32")
EVERYTHING = dict.fromkeys(imports_of(ALL), "found")


def sifted(
    board: Gpu = H100, asked: Model = LLAMA, packages: dict[str, str] | None = None, rules: str = "0.5.22", **changes: Any
) -> Sifted:
    case = scenario(board, asked, **changes)
    return sift(case, ALL, default_pick(case, ALL, rules, packages), packages)


def arms(*arguments: Any, **changes: Any) -> dict[str, str]:
    return {arm.backend: arm.provider.value for arm in sifted(*arguments, **changes).arms}


def rules_of(found: Sifted, backend: str) -> dict[str | None, list[str]]:
    return {one.phase: [reason.rule for reason in one.reasons] for one in found.exclusions if one.backend == backend}


def test_hopper_without_a_worker_takes_the_engine_s_objects_where_there_are_drivers() -> None:
    assert arms() == {
        "triton": "engine", "torch_native": "engine", "flex_attention": "engine", "fa3": "engine", "fa4": "engine", "flashinfer": "engine",
        "trtllm_mha": "engine",
    }  # fmt: skip


def test_a_cpu_without_a_worker_takes_kernel_adapters() -> None:
    assert arms(CPU, FLOAT) == {"torch_native": "kernel", "flex_attention": "kernel"}


def test_a_cpu_where_the_engine_is_found_drives_it() -> None:
    assert arms(CPU, FLOAT, {"torch": "torch"}) == {"torch_native": "kernel", "flex_attention": "kernel"}
    assert arms(CPU, FLOAT, {"torch": "torch", "sglang": "sglang"})["torch_native"] == "engine"


def test_a_gpu_without_the_engine_falls_back_to_kernel_adapters_and_names_what_is_missing() -> None:
    found = sifted(packages={"torch": "torch", "triton": "triton", "flashinfer": "flashinfer-python"})
    assert {arm.backend: arm.provider for arm in found.arms} == dict.fromkeys(
        ("torch_native", "flex_attention", "flashinfer", "trtllm_mha"), Provider.KERNEL
    )
    assert rules_of(found, "fa3") == {None: ["module"]}
    assert rules_of(found, "triton") == {None: ["module", "module"]}  # sglang and sgl_kernel


def test_every_entry_ends_as_an_arm_or_as_an_exclusion_with_reasons() -> None:
    for board, asked in ((H100, LLAMA), (B200, DSV3), (CPU, FLOAT)):
        found = sifted(board, asked, EVERYTHING)
        named = {arm.backend for arm in found.arms} | {one.backend for one in found.exclusions if one.phase is None}
        assert named == {*NAMES, *REMOVED}
        assert all(one.reasons for one in found.exclusions)


def test_a_missing_driver_is_a_gap_of_the_tool_not_a_limit() -> None:
    found = sifted()
    assert {one.backend for one in found.exclusions if [reason.rule for reason in one.reasons] == [NO_DRIVER]} == {"hpc_ops"}
    (reason,) = next(one.reasons for one in found.exclusions if one.backend == "hpc_ops")
    assert reason.allowed == f"none: {entries()['hpc_ops'].undriven}"


def test_every_backend_without_a_driver_says_why() -> None:
    assert {name for name, entry in entries().items() if not entry.drivers} == {name for name, entry in entries().items() if entry.undriven}


def test_latent_attention_has_arms_on_the_backends_that_know_it() -> None:
    assert {arm.backend for arm in sifted(H100, DSV3).arms} == {"fa3", "flashinfer", "flashmla", "triton"}


def test_a_backend_barred_from_one_phase_says_so_beside_the_missing_driver() -> None:
    without = [replace(entry, drivers=()) for entry in ALL if entry.name == "trtllm_mha"]
    found = sift(scenario(), without, default_pick(scenario(), ALL, "0.5.16"))
    assert rules_of(found, "trtllm_mha") == {"prefill": ["sm"], None: [NO_DRIVER]}


def test_an_arm_serves_the_phases_it_is_not_barred_from() -> None:
    entry = entries()["trtllm_mha"]
    driven = replace(entry, drivers=entries()["fa3"].drivers)
    case = scenario()
    found = sift(case, [driven], default_pick(case, ALL, "0.5.16"))
    (arm,) = found.arms
    assert (serves(arm, Phase.DECODE, found.exclusions), serves(arm, Phase.PREFILL, found.exclusions)) == (True, False)


def test_a_selection_keeps_the_default_and_explains_the_rest() -> None:
    found = sifted(backends=("triton",))
    assert {arm.backend for arm in found.arms} == {"triton", "fa3"}
    assert rules_of(found, "flashinfer") == {None: [NOT_SELECTED]}
    [reason] = next(one.reasons for one in found.exclusions if one.backend == "flashinfer")
    assert (reason.asked, reason.remedy) == ("measure.backends=[triton]", "add flashinfer to measure.backends")
    assert rules_of(found, "flashmla") == {None: ["attention"]}  # what a limit says stands before what was not chosen


def test_forced_page_sizes_are_listed_and_an_arm_runs_at_them() -> None:
    found = sifted(B200)
    assert set(found.page_sizes) == {PageSize("trtllm_mha", None, 64), PageSize("fa4", None, 128)}
    assert PageSize("trtllm_mha", 16, 64) not in sifted(B200, page_size=16).page_sizes  # 16 is one it takes
    assert PageSize("trtllm_mha", 1, 64) in sifted(B200, page_size=1).page_sizes


def test_an_asked_page_size_is_every_arm_s() -> None:
    assert {arm.page_size for arm in sifted(page_size=64).arms} == {64}


def test_a_default_pair_is_also_measured_at_the_page_size_the_pair_forces() -> None:
    found = sifted(decode_attention_backend="trtllm_mha")
    assert [arm.page_size for arm in found.arms if arm.backend == "fa3"] == [1, 64]
    assert [arm.page_size for arm in found.arms if arm.backend == "triton"] == [1]


def test_arms_carry_the_resolved_kv_dtype() -> None:
    half = replace(LLAMA, dtype="float16")
    assert {arm.kv_dtype for arm in sifted(asked=half).arms} == {"float16"}


def test_names_of_arms_are_unique() -> None:
    names = [arm.name for arm in sifted(decode_attention_backend="trtllm_mha").arms]
    assert len(set(names)) == len(names)


def test_what_to_look_for_on_the_worker_covers_kernels_and_drivers() -> None:
    assert {"sglang", "sgl_kernel", "flashinfer", "torch", "triton", "hpc", "aiter"} <= set(imports_of(ALL))


@pytest.mark.parametrize(("device", "needed"), [("cpu", [("flex_attention", ("c++",))]), ("cuda", [])])
def test_a_compiler_is_needed_on_a_cpu_only(device: str, needed: list[tuple[str, tuple[str, ...]]]) -> None:
    arm = Arm("flex_attention", Provider.KERNEL, "backends.torch_flex:TorchFlex", 1, "float32")
    assert tools_of(ALL, [arm], device) == needed


def test_an_unknown_gpu_leaves_nothing() -> None:
    assert not sifted(gpu(130)).arms
