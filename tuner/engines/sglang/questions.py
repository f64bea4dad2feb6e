"""From a scenario to what its backends are asked."""

from __future__ import annotations

from collections.abc import Mapping

from backends.cell import Phase
from backends.model import LayerKind
from backends.question import Question
from store.scenario import Scenario
from tuner.engines.layers import layers_of
from tuner.engines.sglang.resolution import answer_to
from tuner.engines.sglang.resolver.versions import nearest
from tuner.engines.sglang.rules import final_topk, resolved_kv_dtype
from tuner.engines.sglang.windows import served_model


def rank_layers(scenario: Scenario) -> tuple[LayerKind, ...]:
    """Each layer kind that is served, with the heads of one rank; `UsageError` where they do not divide."""
    return layers_of(served_model(scenario.model), scenario.engine)


def question_for(
    scenario: Scenario,
    rules: str,
    page_size: int,
    phase: Phase = Phase.DECODE,
    packages: Mapping[str, str] | None = None,
    pool_tokens: int | None = None,
) -> Question:
    """``rules`` as in `request_for`; ``page_size`` stands where the user set none; ``packages`` and ``pool_tokens`` as in `Question`."""
    engine = scenario.engine
    kv_dtype = answer_to(scenario, rules, packages).settings.kv_dtype  # some models set one where the user wrote none
    return Question(
        model=scenario.model,
        layers=rank_layers(scenario),
        gpu=scenario.gpu,
        phase=phase,
        kv_dtype=resolved_kv_dtype(scenario.model, kv_dtype),
        kv_flag=engine.kv_cache_dtype,
        page_size=engine.page_size or page_size,
        speculation=engine.speculation.algorithm,
        topk=final_topk(scenario.model, engine.speculation),
        features=engine.features,
        rules=nearest(rules),
        packages=packages,
        engine_version=engine.version,
        pool_tokens=pool_tokens,
        dcp_size=engine.dcp_size,
        attn_cp_size=engine.attn_cp_size,
    )
