"""What a plan's first sentence says where the user chose a backend."""

from __future__ import annotations

import pytest

from backends.gpu import Gpu
from reports.plan import render_text
from tests.asking import entries, gpu
from tests.tuner.scenarios import H100, scenario
from tuner.plan import plan_of

NPU = gpu(None, kind="npu", cuda=None, arch="910b")


@pytest.mark.parametrize(
    ("board", "flags", "said"),
    [
        (H100, {}, "would pick by itself: fa3"),
        (H100, {"attention_backend": "triton"}, "would run triton: your choice (engine.attention_backend=triton) is kept"),
        (H100, {"attention_backend": "fa3", "kv_cache_dtype": "fp8_e5m2"}, "would run triton, with engine.attention_backend=fa3"),
        (NPU, {"attention_backend": "triton"}, "would run ascend, with engine.attention_backend=triton"),
    ],
)
def test_a_choice_that_the_engine_replaces_is_not_called_kept(board: Gpu, flags: dict[str, str], said: str) -> None:
    text = render_text(plan_of(scenario(board, **flags), tuple(entries().values())))
    assert f"SGLang 0.5.22 {said}\n" in text
