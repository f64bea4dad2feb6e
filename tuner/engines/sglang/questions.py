"""From a scenario to what its backends are asked."""

from __future__ import annotations

from collections.abc import Mapping

from backends.cell import Phase
from backends.model import LayerKind, UnevenSplit
from backends.question import Question
from store.scenario import Scenario
from tuner.engines.sglang.resolution import answer_to
from tuner.engines.sglang.rules import final_topk, resolved_kv_dtype
from tuner.engines.sglang.windows import served_model
from tuner.errors import UsageError
from tuner.ranks import rank_kind, ranks_of


def rank_layers(scenario: Scenario) -> tuple[LayerKind, ...]:
    """Each layer kind that is served, with the heads of one rank; `UsageError` where they do not divide."""
    try:
        return tuple(rank_kind(kind, ranks_of(scenario.engine)) for kind in served_model(scenario.model).layers)
    except UnevenSplit as error:
        raise UsageError(str(error)) from error


def question_for(
    scenario: Scenario,
    rules: str,
    page_size: int,
    phase: Phase = Phase.DECODE,
    packages: Mapping[str, str] | None = None,
    pool_tokens: int | None = None,
) -> Question:
    """``page_size`` stands where the user set none; ``packages`` and ``pool_tokens`` as in `Question`."""
    engine = scenario.engine
    kv_dtype = answer_to(scenario, rules, packages).resolution.kv_dtype  # some models set one where the user wrote none
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
        rules=rules,
        packages=packages,
        engine_version=engine.version,
        pool_tokens=pool_tokens,
        dcp_size=engine.dcp_size,
        attn_cp_size=engine.attn_cp_size,
    )
