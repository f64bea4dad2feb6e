"""From a scenario to what vLLM's backends are asked.

The fields of its selector: vllm/v1/attention/selector.py, AttentionSelectorConfig.
"""

from __future__ import annotations

from collections.abc import Mapping

from backends.cell import Phase
from backends.model import LayerKind, Model
from backends.question import Question
from store.scenario import Scenario
from tuner.engines.layers import layers_of
from tuner.engines.vllm.rules import kv_word, resolved_kv_dtype, rules_for


def served_model(model: Model) -> Model:
    """As it is: vLLM applies the windows of a checkpoint."""
    return model


def rank_layers(scenario: Scenario) -> tuple[LayerKind, ...]:
    """Each layer kind with the heads of one rank; `UsageError` where they do not divide."""
    return layers_of(scenario.model, scenario.engine)


def question_for(
    scenario: Scenario,
    rules: str,
    page_size: int,
    phase: Phase = Phase.DECODE,
    packages: Mapping[str, str] | None = None,
    pool_tokens: int | None = None,
) -> Question:
    """``page_size`` stands where the user set none."""
    engine, model = scenario.engine, scenario.model
    algorithm = engine.speculation.algorithm
    return Question(
        model=model,
        layers=rank_layers(scenario),
        gpu=scenario.gpu,
        phase=phase,
        kv_dtype=resolved_kv_dtype(model, engine.kv_cache_dtype),
        kv_flag=kv_word(model, engine.kv_cache_dtype),
        page_size=engine.page_size or page_size,
        speculation=algorithm,
        topk=0 if algorithm is None else engine.speculation.topk or 1,
        features=engine.features,
        rules=rules_for(rules)[0],
        packages=packages,
        engine_version=engine.version,
        pool_tokens=pool_tokens,
        dcp_size=engine.dcp_size,
        attn_cp_size=engine.attn_cp_size,
        engine="vllm",
        set_page_size=engine.page_size,
    )
