from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backends.capability import BackendEntry, Capability, missing_modules
from backends.cell import Phase
from backends.families import INDEXED
from backends.judgement import reasons
from backends.limits import Limit
from backends.model import LayerKind
from backends.question import KNOWN_SM
from tests.asking import FULL, MLA, NAMES, REMOVED, entries, gpu, kept, mla_model, model, question, rules_broken, why_not

UNEQUAL = LayerKind("full", 48, 64, 4, 192, 128)
WIDE = (LayerKind("window", 30, 16, 8, 256, 256, 1024), LayerKind("full", 5, 16, 4, 512, 512))


def test_every_backend_of_sglang_has_an_entry() -> None:
    assert set(entries()) == {*NAMES, *REMOVED}
    assert len(NAMES) == 23
    assert {alias: entry.name for entry in entries().values() for alias in entry.aliases} == {"nsa": "dsa", "compressed": "dsv4"}


def test_every_limit_names_its_source() -> None:
    assert all(len(limit.source) > 8 for entry in entries().values() for limit in entry.capability.limits)


def test_backends_that_may_compile_while_serving_are_known_with_their_source() -> None:
    read = {name: entry.jit for name, entry in entries().items() if entry.jit}
    assert {name for name, jit in read.items() if jit.stalls_requests} == {"flex_attention", "fa4"}
    assert read.keys() >= {"fa3", "flashinfer", "triton", "torch_native"}
    assert all(len(jit.source) > 8 for jit in read.values())


def test_a_plain_model_on_hopper_keeps_every_dense_backend() -> None:
    assert kept() == {"triton", "torch_native", "flex_attention", "fa3", "fa4", "flashinfer"}
    assert kept("trtllm_mha", "hpc_ops", page_size=64) == {"trtllm_mha", "hpc_ops"}


def test_mla_on_hopper() -> None:
    on_hopper = kept(model=mla_model(), page_size=64)
    assert on_hopper == {"triton", "torch_native", "fa3", "flashinfer", "flashmla"}


def test_a_cpu_keeps_what_pytorch_runs_and_amx_only_where_there_is_some() -> None:
    plain, amx = gpu(None, kind="cpu"), gpu(None, kind="cpu", amx=True)
    assert kept(gpu=plain) == {"torch_native", "flex_attention"}
    assert kept(gpu=amx) == {"torch_native", "flex_attention", "intel_amx"}


@pytest.mark.parametrize("backend", sorted(set(NAMES) - {"aiter", "wave", "ascend", "intel_xpu", "intel_amx"}))
def test_an_architecture_nobody_listed_is_unknown_not_newer(backend: str) -> None:
    found = [reason for reason in why_not(backend, gpu=gpu(130)) if reason.rule == "sm"]
    others = rules_broken(backend, gpu=gpu(130)) & {"architecture", "attention"}
    assert others or [reason.asked for reason in found] == ["sm 130 (unknown architecture)"]


def test_a_reason_says_asked_allowed_remedy_and_source() -> None:
    (reason,) = why_not("hpc_ops", model=model(LayerKind("full", 32, 32, 16, 128, 128)), page_size=64)
    assert (reason.rule, reason.asked, reason.allowed) == ("group", "2 query heads per KV head", "4, 8 query heads per KV head")
    assert reason.remedy == "change engine.tensor_parallel or choose another backend"
    assert reason.source == "sglang/srt/layers/attention/hpc_ops_backend.py (0.5.22)"


def test_the_device_alone_is_named_where_it_is_wrong() -> None:
    assert [reason.rule for reason in why_not("fa3", gpu=gpu(None, kind="cpu"), kv_dtype="float32")] == ["device"]


@pytest.mark.parametrize("page_size", [16, 32, 64])
def test_unequal_widths_leave_those_that_can(page_size: int) -> None:
    """K rows wider than V rows; trtllm_mha died in graph capture (SGLang pull request 32818)."""
    for sm in (100, 103):
        asked = {"gpu": gpu(sm), "model": model(UNEQUAL), "page_size": page_size}
        assert rules_broken("trtllm_mha", **asked) == {"widths"}
        assert not why_not("triton", **asked)
    assert not why_not("fa4", gpu=gpu(100), model=model(UNEQUAL), page_size=128)


def test_unequal_widths_count_in_every_layer_kind() -> None:
    layers = (FULL, LayerKind("window", 10, 32, 8, 192, 128, 128))
    (reason,) = why_not("trtllm_mha", gpu=gpu(100), model=model(*layers), page_size=64)
    assert reason.asked == "K/V widths 192/128 in window layers"


def test_equal_widths_keep_trtllm_mha() -> None:
    assert not why_not("trtllm_mha", gpu=gpu(103), page_size=64)


def test_flashinfer_of_sglang_takes_equal_widths_only_with_either_dtype() -> None:
    for kv_dtype in ("bfloat16", "float8_e4m3fn"):
        assert rules_broken("flashinfer", model=model(UNEQUAL), kv_dtype=kv_dtype) == {"widths"}
        assert not why_not("flashinfer", kv_dtype=kv_dtype)


@pytest.mark.parametrize("sm", [75, 80, 86, 87, 89, 90, 110, 120, 121])
def test_trtllm_mha_prefill_was_for_data_centre_blackwell_alone(sm: int) -> None:
    old = {"phase": Phase.PREFILL, "page_size": 64, "rules": "0.5.16"}
    assert rules_broken("trtllm_mha", gpu=gpu(sm), **old) == {"sm"}
    assert not why_not("trtllm_mha", gpu=gpu(100), **old)
    assert not why_not("trtllm_mha", gpu=gpu(103), **old)


def test_trtllm_mha_prefill_came_to_hopper_later() -> None:
    assert not why_not("trtllm_mha", phase=Phase.PREFILL, page_size=64, rules="0.5.22")


def test_sinks_on_ada_leave_triton() -> None:
    with_sinks = model(replace(FULL, sinks=True))
    assert rules_broken("flashinfer", gpu=gpu(89), model=with_sinks) == {"sinks"}
    assert kept("triton", "fa3", "torch_native", "flex_attention", gpu=gpu(89), model=with_sinks) == {"triton", "fa3"}


def test_sinks_on_window_layers_alone_are_asked_of_a_backend_too() -> None:
    mixed = model(FULL, LayerKind("window", 4, 32, 8, 128, 128, 128, sinks=True))
    assert rules_broken("torch_native", gpu=gpu(89), model=mixed) == {"sinks"}
    assert not why_not("triton", gpu=gpu(89), model=mixed)


def test_fp8_of_the_other_format_is_not_fp8_for_fa3() -> None:
    (reason,) = why_not("fa3", kv_dtype="float8_e5m2")
    assert (reason.rule, "FP8 KV must be e4m3" in reason.allowed) == ("kv_dtype", True)
    assert not why_not("fa3", kv_dtype="float8_e4m3fn")
    assert rules_broken("fa3", kv_dtype="float8_e4m3fn", gpu=gpu(89)) == {"kv_dtype"}


def test_mla_with_fp8_on_consumer_blackwell() -> None:
    asked = {"gpu": gpu(120), "model": mla_model(), "kv_dtype": "float8_e4m3fn", "kv_flag": "fp8_e4m3", "page_size": 64}
    assert kept("trtllm_mla", "flashmla", "cutedsl_mla", "flashinfer", "triton", **asked) == {"flashinfer", "triton"}
    assert {rule for name in ("trtllm_mla", "flashmla", "cutedsl_mla") for rule in rules_broken(name, **asked)} == {"sm"}


def test_every_layer_kind_of_a_model_is_asked_for_its_head_dim() -> None:
    """256 and 512 wide layers on Ada: only Triton has both (vLLM issue 40677)."""
    packages = dict.fromkeys(("sgl_kernel", "triton", "sglang"), "1") | {"flashinfer": "0.6.6"}
    asked = {"gpu": gpu(89, smem_per_block_bytes=99 << 10), "model": model(*WIDE), "packages": packages}
    assert kept("flashinfer", "fa3", "fa4", "triton", **asked) == {"triton"}
    assert why_not("fa3", **asked)[0].asked == "head dim 512 in full layers"


@pytest.mark.parametrize(
    ("sm", "kv_dtype", "too_old", "first"),
    [
        (120, "bfloat16", "0.6.12", "0.6.14"),
        (103, "float8_e4m3fn", "0.6.12", "0.6.14"),
        (89, "bfloat16", "0.6.14", "0.6.15.post1"),
        (90, "float16", "0.6.14", "0.6.15.post1"),
        (80, "float8_e4m3fn", "0.6.16", "0.7.1"),
    ],
)
def test_head_dim_512_came_to_flashinfer_one_architecture_after_the_other(sm: int, kv_dtype: str, too_old: str, first: str) -> None:
    for release, broken in ((too_old, {"flashinfer"}), (first, set[str]())):
        asked = {"gpu": gpu(sm), "model": model(*WIDE), "kv_dtype": kv_dtype, "packages": {"flashinfer": release}}
        assert rules_broken("flashinfer", **asked) == broken


def test_a_tile_that_does_not_fit_shared_memory_is_said_with_both_sizes() -> None:
    asked = {"gpu": gpu(75, smem_per_block_bytes=64 << 10), "model": model(LayerKind("full", 8, 8, 2, 512, 512))}
    for backend in ("triton", "flex_attention"):
        (reason,) = why_not(backend, **asked)
        assert (reason.rule, "64" in reason.asked, "96" in reason.allowed) == ("shared_memory_kib", True, True)


def test_a_limit_of_dtype_and_width_together_needs_both() -> None:
    """FP8 KV at head dim 256 on a card with 64 KiB of shared memory (FlashInfer pull request 3621)."""
    wide = model(LayerKind("full", 8, 8, 2, 256, 256))
    asked: dict[str, Any] = {"gpu": gpu(75, smem_per_block_bytes=64 << 10), "packages": {"flashinfer": "0.6.14"}}
    assert rules_broken("flashinfer", model=wide, kv_dtype="float8_e4m3fn", **asked) == {"flashinfer"}
    assert not why_not("flashinfer", model=wide, **asked)
    assert not why_not("flashinfer", kv_dtype="float8_e4m3fn", **asked)
    assert not why_not("flashinfer", model=wide, kv_dtype="float8_e4m3fn", **{**asked, "packages": {"flashinfer": "0.6.16"}})


def test_the_soft_cap_that_would_be_ignored_is_refused() -> None:
    capped = model(logit_softcap=50.0)
    assert kept("triton", "fa3", "flashinfer", "torch_native", "flex_attention", model=capped) == {"triton", "fa3", "flashinfer"}
    assert why_not("torch_native", model=capped)[0].asked == "a logit soft cap of 50"


def test_draft_trees_leave_the_backends_that_can_express_them() -> None:
    tree = {"gpu": gpu(100), "speculation": "EAGLE", "topk": 4, "page_size": 64}
    assert rules_broken("trtllm_mha", **tree) == {"topk"}
    assert rules_broken("fa4", **tree) == {"page_size"}
    assert kept("flashinfer", "triton", "torch_native", "flex_attention", **tree) == {"flashinfer", "triton"}


def test_deterministic_inference_with_a_radix_cache_leaves_three() -> None:
    wanted = ("deterministic", "radix_cache")
    assert kept(features=wanted) == {"triton", "fa3", "fa4"}
    assert kept(features=("deterministic",)) == {"triton", "fa3", "fa4", "flashinfer"}


def test_spelling_counts_where_the_engine_compares_spellings() -> None:
    asked = {"gpu": gpu(100), "model": mla_model(), "page_size": 64}
    assert rules_broken("trtllm_mla", kv_flag="bfloat16", **asked) == {"kv_flag"}
    assert not why_not("trtllm_mla", kv_flag="bf16", **asked)


def test_an_old_cuda_counts_and_an_unknown_one_does_not() -> None:
    assert rules_broken("fa3", gpu=gpu(90, cuda="12.2")) == {"cuda"}
    assert not why_not("fa3", gpu=gpu(90, cuda=None))


def test_a_backend_that_a_version_lacks_is_refused_for_that_alone() -> None:
    (reason,) = why_not("hpc_ops", rules="0.5.16", gpu=gpu(100))
    assert (reason.rule, reason.asked, reason.allowed) == ("version", "SGLang 0.5.16", "SGLang 0.5.22 and 0.5.23")


def test_a_missing_module_is_a_reason_once_somebody_has_looked() -> None:
    (reason,) = why_not("fa3", packages={"sglang": "0.5.22"})
    assert (reason.rule, "sgl_kernel" in reason.asked) == ("module", True)
    assert not why_not("fa3", packages={"sgl_kernel": "0.4.9"})
    assert not why_not("fa3", packages=None)


def test_a_missing_module_is_not_mentioned_where_a_limit_stands_before_it() -> None:
    assert rules_broken("fa3", packages={}, kv_dtype="float8_e5m2") == {"kv_dtype"}


def test_modules_are_named_one_by_one() -> None:
    assert [reason.allowed for reason in missing_modules(("a", "b"), frozenset())] == ["a importable", "b importable"]


def test_a_reason_that_two_layer_kinds_share_is_given_once() -> None:
    capability = Capability((Limit("group", (1,), "made up"),))
    assert len(reasons(capability, question(model=model(FULL, FULL)))) == 1


def test_architectures_are_listed_one_by_one_and_never_compared() -> None:
    """A family name or a greater-than test lets hardware in that nobody has tried."""
    for name, entry in entries().items():
        has = entry.capability
        lists = [limit.allowed for limit in has.limits if limit.rule == "sm"]
        lists += [items for scoped in (*has.limits, *has.paths, *has.notes) for rule, items in scoped.when if rule == "sm"]
        assert all(isinstance(value, int) and value in KNOWN_SM for items in lists for value in items), name


def test_every_inner_path_that_a_limit_speaks_of_is_one_of_its_backend_or_called_directly() -> None:
    spoken = {(name, path) for name, entry in entries().items() for path in paths_spoken_of(entry)}
    own = {(name, path.name) for name, entry in entries().items() for path in entry.capability.paths}
    assert spoken - own == {("flashinfer", "fa3")}  # its paged kernel, which SGLang never asks for


def paths_spoken_of(entry: BackendEntry) -> set[str]:
    has = entry.capability
    return {str(path) for scoped in (*has.limits, *has.notes) for rule, items in scoped.when if rule == "path" for path in items}


def test_families_of_models_are_those_of_the_backends_made_for_them() -> None:
    [limit] = [limit for limit in entries()["dsa"].capability.limits if limit.rule == "architecture"]
    assert set(limit.allowed) == set(INDEXED)


def test_the_known_architectures_are_those_that_some_backend_lists() -> None:
    listed = {value for entry in entries().values() for limit in entry.capability.limits if limit.rule == "sm" for value in limit.allowed}
    assert listed <= set(KNOWN_SM)


def test_an_mla_layer_is_not_asked_for_its_widths() -> None:
    assert not why_not("flashinfer", model=mla_model())
    assert MLA.head_dim != MLA.value_head_dim
