from __future__ import annotations

import pytest

from backends.question import ENGINES, RULE_SETS
from tuner.engines import WITH_RULES
from tuner.engines.lookup import engine_named, question_of
from tuner.engines.rules import EngineRules

VERBS = {name for name in (*vars(EngineRules), *EngineRules.__annotations__) if not name.startswith("_")}


@pytest.mark.parametrize("name", WITH_RULES)
def test_every_engine_with_rules_answers_all_that_is_asked_of_one(name: str) -> None:
    assert len(VERBS) > 10 and {verb for verb in VERBS if not hasattr(engine_named(name), verb)} == set()
    assert question_of(name) is not None
    assert name in ENGINES and engine_named(name).rules_for(RULE_SETS[name][-1]) == (RULE_SETS[name][-1], None)


def test_an_engine_without_rules_is_not_found() -> None:
    with pytest.raises(KeyError):
        engine_named("trtllm")
    assert question_of("trtllm") is None
