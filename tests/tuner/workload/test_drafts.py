from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backends.cell import Phase
from backends.drafting import Drafting
from store.decision import Pair
from store.runs.run import DefaultPick
from store.scenario import Objective, Role, Scenario, Speculation, WeightedCell
from tests.tuner.scenarios import DSV3, GEMMA3, H100, LLAMA, scenario, server
from tuner.arithmetic.objective import counted
from tuner.engines.lookup import rules_of
from tuner.engines.sglang.questions import rank_layers
from tuner.step_model.shape import tokens_of
from tuner.workload.cells import cells_for
from tuner.workload.drafts import HELD, accepted_length, draft_notes

CHAIN, TREE = Drafting("EAGLE", 1, 3, 4), Drafting("EAGLE", 4, 5, 8)
EAGLE = Speculation("EAGLE", 1, 3, 4)


def cells(asked: Scenario, drafting: Drafting | None = CHAIN, **sizes: Any) -> tuple[WeightedCell, ...]:
    return cells_for(asked, server(drafting=drafting, **sizes), rank_layers(asked), 1).cells


def test_under_a_draft_every_decode_step_is_a_verify_step_of_the_same_requests() -> None:
    plain = [one for one in cells(scenario(), None) if one.cell.phase is Phase.DECODE]
    drafted = [one for one in cells(scenario(speculation=EAGLE)) if one.cell.generates]
    assert [one.cell.name for one in drafted] == [one.cell.name.replace("decode", "verify") for one in plain]
    for old, new in zip(plain, drafted, strict=True):
        assert new.cell.context_lens == tuple(context + 3 for context in old.cell.context_lens)
        assert set(new.cell.new_lens) == {4} and new.cell.draft == CHAIN.tree
        assert new.cell.padded_batch == old.cell.padded_batch and tokens_of(new.cell) == 4 * old.cell.padded_batch


@pytest.mark.parametrize("side", list(Phase))
def test_a_verify_step_is_a_cell_of_the_side_that_serves_it_and_counts_as_output(side: Phase) -> None:
    found = cells(scenario(speculation=EAGLE), verify_side=side)
    assert {one.cell.phase for one in found if one.cell.verifies} == {side}
    tpot, ttft = (counted(found, objective) for objective in (Objective.TPOT, Objective.TTFT))
    assert tpot and all(one.cell.verifies for one in tpot) and ttft and not any(one.cell.verifies for one in ttft)


def test_steps_are_fewer_by_the_tokens_that_are_accepted() -> None:
    asked = scenario(speculation=replace(EAGLE, accepted_length=2.0))
    plain = sum(one.calls_per_1000_tokens for one in cells(scenario(), None) if one.cell.generates)
    assert sum(one.calls_per_1000_tokens for one in cells(asked) if one.cell.generates) == pytest.approx(plain / 2)


def test_where_nobody_says_what_is_accepted_half_of_the_draft_is_and_the_plan_says_so() -> None:
    sizes = server(drafting=CHAIN)
    assert accepted_length(EAGLE, sizes) == 1 + HELD * 3 and accepted_length(EAGLE, server()) == 1
    notes = list(draft_notes(EAGLE, sizes))
    assert "verifies 4 tokens a request (a chain)" in notes[0] and "2.5 tokens" in notes[1]
    assert len(list(draft_notes(replace(EAGLE, accepted_length=3.0), sizes))) == 1 and not list(draft_notes(EAGLE, server()))


def test_latent_heads_verify_in_the_absorbed_form_on_either_side() -> None:
    found = cells(scenario(asked=DSV3, speculation=EAGLE), verify_side=Phase.PREFILL)
    assert all(one.cell.layer.projected_from is None for one in found if one.cell.verifies)
    assert all(one.cell.layer.projected_from is not None for one in found if not one.cell.generates)


def test_a_request_at_the_servers_limit_keeps_its_draft_within_it() -> None:
    found = cells(scenario(speculation=EAGLE), TREE, context_length=2000, pool_tokens=None)
    assert max(max(one.cell.context_lens) for one in found if one.cell.verifies) == 2000


@pytest.mark.parametrize("asked", [LLAMA, GEMMA3, DSV3], ids=lambda model: model.architecture)
def test_sglang_says_how_much_it_drafts_where_the_user_does_not(asked: Any) -> None:
    planned = scenario(H100, asked, speculation=Speculation("NEXTN"))
    sized = rules_of(planned).server_for(planned, "0.5.22", 1)
    assert sized.drafting is not None and sized.drafting.algorithm == "EAGLE" and sized.verify_side is Phase.PREFILL
    wanted = (4, 5, 8) if asked is LLAMA else (1, 3, 4)
    assert (sized.drafting.topk, sized.drafting.steps, sized.drafting.tokens) == wanted


def test_the_side_that_verifies_is_the_users_choice() -> None:
    planned = scenario(speculation=replace(EAGLE, attention_mode="decode"))
    assert rules_of(planned).server_for(planned, "0.5.16", 1).verify_side is Phase.DECODE
    assert rules_of(planned).server_for(scenario(), "0.5.16", 1).drafting is None


def test_a_server_that_only_prefills_verifies_nothing() -> None:
    asked = scenario(speculation=EAGLE, role=Role.PREFILL)
    found = cells_for(asked, server(drafting=CHAIN), rank_layers(asked), 1)
    assert not any(one.cell.verifies for one in found.cells) and not found.notes


def test_a_decode_server_that_drafts_is_pinned_on_both_sides() -> None:
    default, pair = DefaultPick("fa3", "fa3", 1, "auto", "made up", "0.5.22"), Pair("triton", "triton")
    plain, drafted = (scenario(speculation=drafts, role=Role.DECODE).engine for drafts in (Speculation(), EAGLE))
    flags = [rules_of(scenario()).pin_flags(pair, default, 1, engine) for engine in (plain, drafted)]
    assert flags == [(("decode-attention-backend", "triton"),), (("attention-backend", "triton"),)]
