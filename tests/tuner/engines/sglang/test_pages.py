from __future__ import annotations

import pytest

from backends.gpu import Gpu
from backends.model import Model
from tests.asking import entries, gpu, mla_model, model
from tests.tuner.scenarios import B200, DSV3, H100, LLAMA, scenario
from tuner.engines.sglang.pages import page_sizes

XPU = gpu(None, kind="xpu", cuda=None)
SPARSE, V4 = mla_model(architecture="DeepseekV32ForCausalLM"), model(architecture="DeepseekV4ForCausalLM")


@pytest.mark.parametrize(
    ("backend", "board", "asked"),
    [
        ("trtllm_mha", B200, LLAMA),
        ("fa4", B200, LLAMA),
        ("hpc_ops", H100, LLAMA),
        ("flashmla", H100, DSV3),
        ("trtllm_mla", B200, DSV3),
        ("cutedsl_mla", B200, DSV3),
        ("tokenspeed_mla", B200, DSV3),
        ("dsa", B200, SPARSE),
        ("dsv4", B200, V4),
        ("intel_xpu", XPU, LLAMA),
    ],
)
def test_what_a_backend_turns_a_page_into_is_what_its_entry_says(backend: str, board: Gpu, asked: Model) -> None:
    limits = [limit for limit in entries()[backend].capability.limits if limit.rule == "page_size" and "0.5.22" in limit.versions]
    assert page_sizes(scenario(board, asked, page_size=1), "0.5.22")(backend) in {limit.becomes for limit in limits} - {None}


def test_a_size_that_a_backend_takes_is_kept() -> None:
    assert [page_sizes(scenario(B200, page_size=tokens), "0.5.22")("trtllm_mha") for tokens in (16, 32, 64, 128)] == [16, 32, 64, 128]
    assert page_sizes(scenario(B200, page_size=128), "0.5.16")("trtllm_mha") == 64


def test_a_backend_that_is_refused_has_a_size_all_the_same() -> None:
    assert page_sizes(scenario(H100, DSV3, page_size=1), "0.5.22")("trtllm_mla") == 64
    assert page_sizes(scenario(gpu(None, kind="npu", cuda=None)), "0.5.22")("triton") == 128
