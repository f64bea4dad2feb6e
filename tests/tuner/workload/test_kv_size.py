from __future__ import annotations

import pytest

from tests.backends.simulated.worlds import DECODE
from tests.tuner.scenarios import H100, scenario
from tuner.budgeting.estimate import call_s
from tuner.engines.lookup import rules_of
from tuner.schema.engine import KV_CACHE_DTYPES
from tuner.workload.kv_size import element_bytes


@pytest.mark.parametrize(("engine", "word"), [(engine, word) for engine, words in KV_CACHE_DTYPES.items() for word in words])
def test_every_word_for_a_cache_of_either_engine_has_its_bytes(engine: str, word: str) -> None:
    case = scenario(name=engine)
    assert 0 < element_bytes(rules_of(case).resolved_kv_dtype(case.model, word)) <= 2


def test_another_word_is_refused_and_taken_for_no_width() -> None:
    with pytest.raises(ValueError, match="'bfloat61' names no dtype of a KV cache"):
        element_bytes("bfloat61")


def test_a_call_over_packed_keys_is_estimated_by_their_own_width() -> None:
    seconds = {word: call_s(DECODE, H100, word) for word in ("bfloat16", "float8_e4m3fn", "nvfp4")}
    assert seconds["nvfp4"] == pytest.approx(seconds["bfloat16"] * element_bytes("nvfp4") / 2)
    assert seconds["nvfp4"] < seconds["float8_e4m3fn"] < seconds["bfloat16"]
