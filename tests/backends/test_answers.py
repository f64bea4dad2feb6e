from __future__ import annotations

from backends.asked import Kind
from tests.asking import FULL, MLA, mla_model, question, rules_broken

DEEPSEEK = mla_model(architecture="DeepseekV3ForCausalLM")
OLD = {"flashinfer": "0.6.10"}


def test_ranks_that_split_a_context_hold_a_share_of_the_pool_s_elements() -> None:
    assert Kind(question(pool_tokens=1001), FULL)["pool_elements"] == (1001 * 8 * 128,)
    assert Kind(question(pool_tokens=1001, dcp_size=8), MLA)["pool_elements"] == (126 * 576,)
    assert Kind(question(pool_tokens=None, dcp_size=8), MLA)["pool_elements"] is None


def test_offsets_that_overflow_are_those_of_one_rank() -> None:
    tokens = 2**31 // 576 + 1
    assert "pool_elements" in rules_broken("flashinfer", model=DEEPSEEK, pool_tokens=tokens, packages=OLD)
    assert "pool_elements" not in rules_broken("flashinfer", model=DEEPSEEK, pool_tokens=tokens, packages=OLD, dcp_size=8)
    assert "pool_elements" in rules_broken("flashinfer", model=DEEPSEEK, pool_tokens=8 * tokens, packages=OLD, dcp_size=8)
