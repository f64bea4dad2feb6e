"""What entries of vLLM's backends may hold that others need not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.allowed import Multiple
from backends.entry import entry_from
from backends.entry_fields import EntryError
from backends.judgement import reasons
from backends.question import RULE_SETS, RULES
from tests.asking import question

LIMITS = [{"rule": "block_size", "allowed": ["64n"], "becomes": 64}, {"rule": "head_size", "allowed": ["8n"]}]
ENTRY = {"name": "MINE", "engine": "vllm", "source": "vllm/mine.py", "limits": LIMITS}


@given(st.integers(1, 64), st.integers(0, 4096))
def test_a_multiple_takes_whole_multiples_alone(base: int, value: int) -> None:
    assert (value in Multiple(base)) is (value % base == 0)


def test_an_entry_belongs_to_one_engine_whose_rule_sets_count() -> None:
    assert entry_from(ENTRY).capability.versions == RULE_SETS["vllm"]
    ours = entry_from({"name": "mine", "source": "my wiki"})
    assert ours.engine == "sglang" and ours.capability.versions == RULES
    with pytest.raises(EntryError, match="backend MINE: engine 'trtllm' is unknown; write one of sglang, vllm"):
        entry_from({**ENTRY, "engine": "trtllm"})


def test_a_block_size_counts_where_the_user_set_one() -> None:
    asked = {"engine": "vllm", "rules": "0.33.0"}
    capability = entry_from(ENTRY).capability
    assert reasons(capability, question(**asked)) == () == reasons(capability, question(set_page_size=128, **asked))
    (reason,) = reasons(capability, question(set_page_size=96, **asked))
    assert (reason.asked, reason.allowed, reason.source) == ("block size 96", "block size multiples of 64", "vllm/mine.py (0.33.0)")


def test_a_backend_of_one_engine_is_none_of_anothers() -> None:
    (reason,) = reasons(entry_from(ENTRY).capability, question())
    assert (reason.rule, reason.asked) == ("version", "SGLang 0.5.22")
