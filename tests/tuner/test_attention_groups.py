"""DeepSeek-V3 on eight H200s, its heads divided over all of them or one group of requests a rank."""

from __future__ import annotations

from functools import cache

import pytest

from backends.cell import Phase
from reports.plan import render_text
from store.plan import Plan
from tuner.engines.sglang.memory import CONTEXT_MIB, DRIVER_SHARE
from tuner.plan import make_plan
from tuner.settings import compose

MIB, MEMORY = 1 << 20, 150754820096
TOKEN = 61 * 576 * 2  # bytes of the latent in bfloat16


@cache
def planned(*overrides: str) -> Plan:
    return make_plan(compose(["model=deepseek_v3", "gpu=h200", "engine.tensor_parallel=8", *overrides]))


def divided() -> Plan:
    return planned()


def grouped() -> Plan:
    return planned("engine.attn_dp_size=8")


def batches(plan: Plan) -> list[int]:
    return [weighted.cell.batch for weighted in plan.cells if weighted.cell.phase is Phase.DECODE and not weighted.is_guard]


def heads(plan: Plan) -> set[tuple[int, int]]:
    decode = (weighted.cell.layer for weighted in plan.cells if weighted.cell.phase is Phase.DECODE)
    return {(layer.query_heads, layer.kv_heads) for layer in decode}


def test_tensor_parallel_divides_the_heads_and_a_group_a_rank_keeps_them_all() -> None:
    assert (heads(divided()), heads(grouped())) == ({(16, 1)}, {(128, 1)})


def test_a_group_runs_an_eighth_of_the_requests_in_chunks_of_an_eighth() -> None:
    assert (batches(divided()), batches(grouped())) == ([16, 32, 64], [2, 4, 8])
    assert (divided().server.chunked_prefill_size, grouped().server.chunked_prefill_size) == (8192, 1024)
    assert max(weighted.cell.new_tokens for weighted in grouped().cells) <= 1024


def test_a_group_holds_all_of_attention_s_weights_and_so_fewer_tokens() -> None:
    model = divided().scenario.model
    assert model.attention_params is not None and model.weight_bits is not None
    stored = model.weight_bits / 8
    assert divided().server.weight_bytes == pytest.approx(model.params_total / 8 * stored)
    rest = model.params_total - model.attention_params
    assert grouped().server.weight_bytes == pytest.approx((rest / 8 + model.attention_params) * stored)


@pytest.mark.parametrize(
    ("plan", "reserved_mib"),
    [  # metadata, activations of the whole server's chunk, ranks, decode graphs up to 512, prefill graphs of MLA
        (divided, 512 + 1.5 * 8192 + 128 * 8 + 512 * 2 + 1536),
        (grouped, 512 + 1.5 * 8192 + 128 * 8 + 512 * (2 + 4.5 * 8) + 1536),
    ],
)
def test_the_pool_is_what_the_engine_s_formula_leaves(plan: object, reserved_mib: float) -> None:
    server = plan().server  # type: ignore[operator]
    fraction = round(1 - reserved_mib / (MEMORY / MIB), 3)
    assert (server.mem_fraction_static, server.kv_bytes_per_token) == (fraction, TOKEN)
    free = MEMORY - CONTEXT_MIB * MIB - DRIVER_SHARE * MEMORY
    assert server.pool_tokens == int((int(free * fraction) - server.weight_bytes) / TOKEN)


def test_tokens_of_all_groups_count_per_1000() -> None:
    steps = {plan: sum(one.calls_per_1000_tokens for one in plan().cells if one.cell.phase is Phase.DECODE) for plan in (divided, grouped)}
    assert steps[divided] == pytest.approx(steps[grouped])  # a step of 8 groups of 8 makes the 64 tokens of one of 64


def test_the_plan_says_whose_cells_it_has() -> None:
    assert "cells are those of one of 8 groups of attention data parallelism, each with 8 of the requests" in grouped().notes
    assert "tensor parallel 8, attention data parallel 8" in render_text(grouped())
    assert "data parallel" not in render_text(divided())


def test_ranks_that_split_a_context_are_planned_and_not_measured() -> None:
    plan = planned("engine.dcp_size=8")
    decode = [weighted.cell for weighted in plan.cells if weighted.cell.phase is Phase.DECODE]
    assert {cell.layer.query_heads for cell in decode} == {128}
    assert plan.server.kv_bytes_per_token == round(TOKEN / 8)
    assert not plan.arms
    assert any("engine.dcp_size=8" in reason.asked for one in plan.exclusions for reason in one.reasons)
