"""From a scenario to what its backends are asked."""

from __future__ import annotations

from collections.abc import Mapping

from backends.cell import Phase
from backends.model import LayerKind, UnevenSplit, per_rank
from backends.question import Question
from store.scenario import Scenario
from tuner.engines.sglang_rules import final_topk, resolved_kv_dtype
from tuner.errors import UsageError


def rank_layers(scenario: Scenario) -> tuple[LayerKind, ...]:
    """Each layer kind with its heads per tensor-parallel rank; `UsageError` where they do not divide."""
    try:
        return tuple(per_rank(kind, scenario.engine.tensor_parallel) for kind in scenario.model.layers)
    except UnevenSplit as error:
        raise UsageError(str(error)) from error


def question_for(
    scenario: Scenario, rules: str, page_size: int, phase: Phase = Phase.DECODE, packages: Mapping[str, str] | None = None
) -> Question:
    """``page_size`` stands where the user set none."""
    engine = scenario.engine
    return Question(
        model=scenario.model,
        layers=rank_layers(scenario),
        gpu=scenario.gpu,
        phase=phase,
        kv_dtype=resolved_kv_dtype(scenario.model, engine.kv_cache_dtype),
        kv_flag=engine.kv_cache_dtype,
        page_size=engine.page_size or page_size,
        speculation=engine.speculation.algorithm,
        topk=final_topk(scenario.model, engine.speculation),
        features=engine.features,
        rules=rules,
        packages=None if packages is None else frozenset(packages),
    )
