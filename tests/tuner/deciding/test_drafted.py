"""Deciding for a server that verifies drafts on the prefill side: nothing is decoded, and one backend serves all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from backends.cell import Phase
from backends.reason import Reason
from store.decision import Decision, Pair
from store.runs.run import Run
from store.scenario import Exclusion, Objective, WeightedCell
from tests.tuner.building import Recipe, arm, build, decode, prefill
from tuner.decide import decide

VERIFY = "verify-64"


def verify() -> WeightedCell:
    plain = decode(VERIFY)
    cell = replace(plain.cell, phase=Phase.PREFILL, draft=(-1, 0), new_lens=(2,) * 64, prompt_lens=(2000,) * 64)
    return replace(plain, cell=cell, calls_per_1000_tokens=plain.calls_per_1000_tokens / 2)


def drafted(times: dict[str, tuple[float, float]], **changes: Any) -> Run:
    """Arms by backend name with (prefill us, verify us)."""
    arms, cells = tuple(map(arm, times)), (verify(), prefill())
    table = {(made.name, cells[1].cell.name): us[0] for made, us in zip(arms, times.values(), strict=True)}
    table |= {(made.name, VERIFY): us[1] for made, us in zip(arms, times.values(), strict=True)}
    modes = {(made.name, VERIFY): "graph" for made in arms}
    return build(Recipe(arms, table, cells=cells, modes=modes, **changes))


def decided(times: dict[str, tuple[float, float]], objective: Objective, *barred: str) -> Decision:
    run = drafted(times)
    reason = Reason("phase", "decode", "prefill", "use it in the other phase only", "made up")
    excluded = tuple(Exclusion(backend, Phase.DECODE.value, (reason,)) for backend in barred)
    scenario = replace(run.scenario, decide=replace(run.scenario.decide, objective=objective))
    return decide(replace(run, scenario=scenario, exclusions=(*run.exclusions, *excluded)))


TIMES = {"fa3": (300.0, 300.0), "flashinfer": (600.0, 150.0)}


def test_each_backend_is_its_own_partner_and_the_objective_says_which_wins() -> None:
    tpot, ttft = (decided(TIMES, objective) for objective in (Objective.TPOT, Objective.TTFT))
    assert {score.pair for score in tpot.scores} == {Pair("fa3/p1", "fa3/p1"), Pair("flashinfer/p1", "flashinfer/p1")}
    ranked = [min(found.scores, key=lambda score: score.objective_ms).pair.prefill for found in (tpot, ttft)]
    assert ranked == ["flashinfer/p1", "fa3/p1"]


def test_a_backend_that_cannot_decode_is_no_backend_for_both() -> None:
    found = decided(TIMES, Objective.TPOT, "flashinfer")
    assert {score.pair for score in found.scores} == {Pair("fa3/p1", "fa3/p1")}
