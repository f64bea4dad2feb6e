"""vLLM's own answer in the place of what attnpin's rules say of it."""

from __future__ import annotations

from typing import Any

from backends.engine_says import EngineSays
from store.engines.asked import Difference
from tests.tuner.engines.vllm.served import RULES, entries, on_vllm
from tuner.engines.heard import Consulted, heard
from tuner.engines.rules import Settled
from tuner.engines.vllm import verbs

SAME = {"prefill": "FLASH_ATTN", "decode": "FLASH_ATTN", "page_size": 16, "kv_dtype": "auto"}


def told(**resolved: Any) -> tuple[Settled, Settled]:
    """What the rules say, and what is left of it."""
    rules = verbs.settled(on_vllm(), entries(), RULES)
    says = EngineSays(resolved={**SAME, **resolved})
    return rules, heard(on_vllm(), entries(), rules, Consulted(RULES, "H100", says))


def test_the_same_pick_and_the_same_judgements_add_no_word() -> None:
    rules, after = told(rejected={"FLASHINFER": [], "B12X": ["compute capability not supported"]})
    assert after.caveats == rules.caveats and after.default.asked is not None and after.default.asked.differences == ()


def test_another_pick_replaces_the_rules_and_is_listed() -> None:
    _, after = told(prefill="TRITON_ATTN", decode="TRITON_ATTN", page_size=32, kv_dtype="fp8")
    assert (after.default.decode, after.default.page_size, after.default.kv_cache_dtype) == ("TRITON_ATTN", 32, "float8_e4m3fn")
    assert after.default.asked is not None
    assert Difference("page size", "32", "16") in after.default.asked.differences


def test_a_backend_that_vllm_judges_otherwise_is_named_with_its_reason() -> None:
    _, after = told(rejected={"FLASHINFER": ["ImportError: No module named 'flashinfer'"], "B12X": []})
    assert "vLLM 0.33.0 itself refuses FLASHINFER, which attnpin's rules allow: ImportError: No module named 'flashinfer'" in after.caveats
    assert "vLLM 0.33.0 itself takes B12X, which attnpin's rules refuse" in after.caveats
