from __future__ import annotations

from typing import Any

import pytest

from backends.model import LayerKind
from backends.question import Question
from backends.vllm import flash_attention
from tests.asking import gpu, model, question

DIMS = {dim: LayerKind("full", 32, 32, 8, dim, dim) for dim in (64, 128, 192, 256, 512)}


def asked(sm: int | None, layer: LayerKind, architecture: str = "LlamaForCausalLM", cap: float | None = None, **changes: Any) -> Question:
    return question(gpu=gpu(sm), model=model(layer, architecture=architecture, logit_softcap=cap), **{"engine": "vllm", **changes})


@pytest.mark.parametrize(
    ("sm", "dim", "changes", "version"),
    [
        (80, 128, {}, 2),
        (90, 128, {}, 3),
        (90, 256, {}, 3),
        (90, 512, {}, 4),
        (90, 512, {"features": ("deterministic",)}, 2),
        (90, 128, {"features": ("deterministic",)}, 3),
        (100, 128, {}, 4),
        (100, 192, {}, 2),
        (100, 256, {}, 4),
        (100, 512, {}, 2),
        (100, 128, {"features": ("deterministic",)}, 2),
        (100, 256, {"kv_flag": "fp8"}, 2),
        (100, 256, {"cap": 50.0}, 2),
        (100, 256, {"set_page_size": 64}, 2),
        (100, 256, {"set_page_size": 256}, 4),
        (100, 256, {"dcp_size": 2}, 2),
        (100, 256, {"architecture": "Gemma3ForConditionalGeneration"}, 2),
        (110, 128, {}, 2),
        (120, 128, {}, 2),
        (None, 128, {}, None),
    ],
)
def test_the_version_follows_the_gpu_the_head_and_what_a_kernel_does_not_take(
    sm: int | None, dim: int, changes: dict[str, Any], version: int | None
) -> None:
    assert flash_attention.version(asked(sm, DIMS[dim], **changes), DIMS[dim]) == version


def test_sinks_and_unequal_widths_take_a_newer_kernel_on_hopper() -> None:
    plain, wide = LayerKind("full", 4, 32, 8, 192, 128), LayerKind("full", 4, 32, 8, 192, 128, sinks=True)
    assert [flash_attention.version(asked(90, layer), layer) for layer in (plain, wide)] == [3, 4]
    assert flash_attention.version(asked(100, plain), plain) == 4


@pytest.mark.parametrize(
    ("sm", "dim", "changes", "page"),
    [
        (90, 128, {}, 16),
        (90, 512, {"kv_flag": "fp8"}, 64),
        (90, 512, {}, 16),
        (100, 256, {}, 128),
        (100, 256, {"kv_flag": "fp8"}, 16),
        (None, 256, {}, None),
    ],
)
def test_some_kernels_read_longer_pages(sm: int | None, dim: int, changes: dict[str, Any], page: int | None) -> None:
    assert flash_attention.page(asked(sm, DIMS[dim], **changes)) == page
