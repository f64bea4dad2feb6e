"""What SGLang does by the platform alone: 0.5.22's sglang/srt/arg_groups/platform_hook.py, as its tests may read it."""

from __future__ import annotations

from typing import Any

import pytest

from backends.gpu import Gpu
from backends.model import LayerKind, Model
from store.runs.run import DefaultPick
from tests.asking import entries, gpu, kept, model, rules_broken
from tests.tuner.scenarios import CPU_AMX, DSV3, GIB, H100, LLAMA, MAC, MI300, scenario
from tuner.engines.sglang.caveats import caveats
from tuner.engines.sglang.memory import mem_fraction, server_for, tier_for
from tuner.engines.sglang.pick import default_pick

ALL = tuple(entries().values())
ARM = gpu(None, kind="cpu", cuda=None, arch="aarch64")
XPU, NPU = gpu(None, kind="xpu", cuda=None), gpu(None, kind="npu", cuda=None, arch="910b")


def pick(board: Gpu, asked: Model = LLAMA, rules: str = "0.5.22", **flags: Any) -> DefaultPick:
    return default_pick(scenario(board, asked, **flags), ALL, rules)


def notes(board: Gpu, asked: Model = LLAMA, **flags: Any) -> tuple[str, ...]:
    return caveats(scenario(board, asked, **flags), ALL, "0.5.22", None)


@pytest.mark.parametrize("rules", ["0.5.16", "0.5.22"])
@pytest.mark.parametrize(
    ("board", "asked", "backend", "page_size"),
    [
        (ARM, LLAMA, "torch_native", 1),
        (CPU_AMX, LLAMA, "intel_amx", 1),
        (MAC, LLAMA, "torch_native", 1),
        (MAC, DSV3, "torch_native", 1),
        (XPU, LLAMA, "triton", 1),
        (XPU, DSV3, "triton", 1),
        (NPU, LLAMA, "ascend", 128),
        (NPU, DSV3, "ascend", 128),
        (MI300, LLAMA, "aiter", 1),
    ],
)
def test_each_platform_has_its_default(board: Gpu, asked: Model, backend: str, page_size: int, rules: str) -> None:
    found = pick(board, asked, rules)
    assert (found.prefill, found.decode, found.page_size) == (backend, backend, page_size)


def test_an_arm_processor_is_named_as_the_reason() -> None:
    assert pick(ARM).because == "CPU; no base backend chosen; arm64 processor -> torch_native (SGLang 0.5.22)"
    assert pick(ARM, attention_backend="triton").decode == "triton"


def test_an_npu_serves_with_ascend_whatever_is_asked_for_and_the_plan_says_so() -> None:
    flags = {"attention_backend": "triton", "decode_attention_backend": "torch_native"}
    assert (pick(NPU, **flags).prefill, pick(NPU, **flags).decode) == ("ascend", "ascend")
    assert "SGLang replaces torch_native and triton by ascend on an NPU, without a word" in notes(NPU, **flags)
    assert notes(NPU) == notes(NPU, attention_backend="ascend") == ()
    assert pick(NPU, page_size=64).page_size == 64


def test_a_mac_reader_learns_that_mlx_runs_no_backend_of_the_list() -> None:
    """Cases h15-mlx: the server's arguments say torch_native while MLX computes attention."""
    (note,) = notes(MAC)
    assert "SGLANG_USE_MLX=1" in note and "no backend of this list runs" in note and "torch_native" in note
    assert "SGLang refuses engine.tensor_parallel=2 on MPS" in notes(MAC, tensor_parallel=2)[1]
    assert not any("MLX" in note for note in notes(H100))


def test_intel_xpu_forces_its_page_size_where_it_is_chosen() -> None:
    assert pick(XPU, attention_backend="intel_xpu").page_size == 128
    assert pick(XPU, attention_backend="intel_xpu", page_size=64).page_size == 64


@pytest.mark.parametrize(
    ("board", "backends"),
    [
        (gpu(None, kind="rocm", cuda=None, arch="gfx942"), {"triton", "torch_native", "flex_attention", "aiter", "wave"}),
        (gpu(None, kind="rocm", cuda=None, arch="gfx1201"), {"triton", "torch_native", "flex_attention", "wave"}),
        (XPU, {"triton", "torch_native", "flex_attention", "intel_xpu"}),
        (NPU, {"ascend"}),
        (MAC, {"torch_native"}),
        (ARM, {"torch_native", "flex_attention"}),
        (CPU_AMX, {"torch_native", "flex_attention", "intel_amx"}),
    ],
)
def test_each_platform_keeps_its_own_backends(board: Gpu, backends: set[str]) -> None:
    pages = {"page_size": 128} if board.kind in ("npu", "xpu") else {}
    assert kept(gpu=board, **pages) == backends


def test_aiter_is_refused_by_the_architecture_it_has_no_kernels_for() -> None:
    assert rules_broken("aiter", gpu=gpu(None, kind="rocm", cuda=None, arch="gfx1201")) == {"arch"}
    assert not rules_broken("aiter", gpu=MI300)  # an architecture nobody told


def test_shared_memory_of_another_makers_gpu_is_not_held_against_nvidias_tiles() -> None:
    wide = model(LayerKind("full", 36, 64, 8, 512, 512))
    amd, nvidia = gpu(None, kind="rocm", cuda=None, smem_per_block_bytes=64 << 10), gpu(75, smem_per_block_bytes=64 << 10)
    assert "shared_memory_kib" not in rules_broken("triton", gpu=amd, model=wide)
    assert "shared_memory_kib" in rules_broken("triton", gpu=nvidia, model=wide)


@pytest.mark.parametrize(("gib", "chunk", "batch"), [(32, 4096, 16), (64, 8192, 64), (128, 8192, 256)])
def test_an_npu_has_tiers_of_its_own(gib: int, chunk: int, batch: int) -> None:
    tier = tier_for(gib * GIB, "0.5.22", "npu")
    assert (tier.chunk, tier.batch) == (chunk, batch)


@pytest.mark.parametrize(("board", "captured"), [(MI300, 256), (NPU, 256), (XPU, 0), (MAC, 0), (CPU_AMX, 0), (H100, 256)])
def test_decode_is_captured_where_the_platform_does_so_by_itself(board: Gpu, captured: int) -> None:
    assert max(server_for(scenario(board), "0.5.22", 1).captured_batches, default=0) == captured


def test_memory_is_set_aside_for_what_the_platform_captures() -> None:
    """On 22 GiB, below the size from which 10 GiB are kept free anyway."""
    boards = [gpu(None, kind=kind, cuda=None, memory_bytes=22 * GIB) for kind in ("rocm", "xpu")]
    rocm, xpu = (mem_fraction(board, 4096, 48, scenario().engine, LLAMA.attention) for board in boards)
    base = 512 + 1.5 * 4096 + 128
    assert rocm == round(1 - (base + 2 * 48) / (22 * 1024), 3)
    assert xpu == round(1 - (base + 2048) / (22 * 1024), 3)
