"""What an audit measures, and what keeps it from measuring."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backends.cell import Phase
from backends.model import LayerKind
from backends.simulated.world import RecordedCell
from store.digest import cell_digest
from store.engines.recorded_reason import Expected, ReasonTest, Shape
from store.plan import Plan
from store.scenario import Role, Scenario
from tests.asking import entries, model, undriven
from tests.backends.simulated.worlds import CALM
from tests.tuner.auditing.reasons import RULE, SHAPE, SLOW, here
from tests.tuner.scenarios import GEMMA3, H100, LLAMA, scenario
from tuner.auditing.cells import PREFIX, does_not_fit, has_shape, of_scenario, reason_cells, with_shape
from tuner.auditing.obstacles import obstacle
from tuner.auditing.plan import audited, blocked, narrowed
from tuner.auditing.steps import recorded
from tuner.plan import make_plan, plan_of
from tuner.settings import compose

ALL = tuple(entries().values())


def plan(asked: Scenario | None = None, **engine: Any) -> Plan:
    return plan_of(asked or scenario(version="0.5.16", **engine), ALL)


PLAN = plan()


def test_a_reasons_cell_is_equal_requests_that_weigh_nothing_in_the_models_own_geometry() -> None:
    (weighted,) = reason_cells(PLAN, (SLOW, SLOW))
    cell = weighted.cell
    assert (cell.name, cell.phase, cell.batch, set(cell.context_lens)) == ("reason-decode-64x4096", Phase.DECODE, 64, {4096})
    assert set(cell.prompt_lens) == {3072} and cell.padded_batch == 64 and weighted.is_guard
    assert (cell.layer.query_heads, weighted.layers) == (LLAMA.layers[0].query_heads, LLAMA.layers[0].layers)


def test_a_prefill_shape_is_fresh_prompts() -> None:
    (weighted,) = reason_cells(PLAN, (replace(SLOW, phases=(Phase.PREFILL,), shapes=(Shape(Phase.PREFILL, 2, 2048),)),))
    assert weighted.cell.new_lens == weighted.cell.context_lens == weighted.cell.prompt_lens == (2048, 2048)


def test_each_layer_kind_has_its_cell_and_all_are_known_by_their_shape() -> None:
    gemma = plan(scenario(H100, GEMMA3, version="0.5.16"))
    cells = reason_cells(gemma, (SLOW,))
    assert [weighted.cell.name for weighted in cells] == ["reason-decode-64x4096-full", "reason-decode-64x4096-window"]
    assert with_shape((*gemma.cells, *cells), SHAPE) == cells and of_scenario((*gemma.cells, *cells)) == gemma.cells
    assert not has_shape(cells[0], Shape(Phase.DECODE, 64, 40960)) and cells[0].cell.name.startswith(PREFIX)


def test_an_audit_measures_the_default_and_what_the_reasons_and_the_user_name() -> None:
    settings = compose(["model=qwen3_8b", "gpu=h200", "backend=[fa3,flashinfer,triton,torch_native]", "measure.backends=[triton]"])
    asked = narrowed(settings, recorded(PLAN.path))
    made = make_plan(asked)
    assert asked.scenario.measure.backends == ("triton", "fa3", "flashinfer")
    assert {arm.backend for arm in made.arms} == {"triton", "fa3", "flashinfer"}
    cells = audited(made, recorded(PLAN.path), ()).cells
    assert [weighted.cell.name for weighted in cells if weighted not in made.cells] == ["reason-decode-64x4096"]


def test_a_reason_that_is_stuck_brings_no_cell() -> None:
    steps, made = ((RULE, here(against="fa4")),), plan_of(scenario(version="0.5.16"), undriven("fa4"))
    stuck = blocked(made, steps)
    assert [found.says for found in stuck] == ["attnpin cannot drive fa4 for mha attention on cuda"]
    assert audited(made, steps, stuck).cells == made.cells


def stuck_by(made: Plan, **test: Any) -> str | None:
    return obstacle(made, replace(SLOW, **test))


def test_a_recording_that_does_not_hold_the_cell_a_reason_names_says_so_and_a_modelled_gpu_holds_all() -> None:
    assert obstacle(PLAN, SLOW, replace(CALM, recorded=((),))) == (
        "not recorded: the recording holds no time of fa3/p1 on reason-decode-64x4096"
    )
    (named,) = (weighted.cell for weighted in reason_cells(PLAN, (SLOW,)))
    held = tuple(
        RecordedCell(f"{name}/p1", "any name", cell_digest(named), (100.0,), None, None, (1.0, 1.0)) for name in ("fa3", "flashinfer")
    )
    assert obstacle(PLAN, SLOW, CALM) is obstacle(PLAN, SLOW, replace(CALM, recorded=(held,))) is None
    assert obstacle(PLAN, SLOW, replace(CALM, recorded=(held, held[:1]))) is not None


def test_a_plan_with_both_arms_and_room_is_no_obstacle() -> None:
    assert obstacle(PLAN, SLOW) is None


@pytest.mark.parametrize(
    ("asked", "test", "said"),
    [
        (scenario(version="0.5.16", role=Role.PREFILL), {}, "the reason is about decode, which this server does not serve"),
        (
            scenario(asked=model(LayerKind("full", 32, 32, 32, 128, 128)), version="0.5.16"),
            {"least_group": 4},
            "the reason is about 4 query heads or more on one KV head, here they are 1",
        ),
        (
            scenario(version="0.5.16"),
            {"against": "flashmla"},
            "flashmla does not serve decode here: mha attention is asked, mla attention is allowed "
            "(sglang/srt/layers/attention/flashmla_backend.py (0.5.16))",
        ),
        (scenario(version="0.5.16"), {"against": "fa9"}, "fa9 is no backend of engine sglang that was chosen in the backend group"),
        (
            scenario(version="0.5.16", context_length=2048),
            {},
            "a request of 4096 tokens is longer than the 2048 that the server takes",
        ),
        (
            scenario(version="0.5.16"),
            {"phases": (Phase.PREFILL,), "shapes": (Shape(Phase.PREFILL, 4, 4096),)},
            "16384 prompt tokens are more than the 8192 of a prefill chunk",
        ),
    ],
)
def test_what_keeps_a_reason_from_being_tested_is_said(asked: Scenario, test: dict[str, Any], said: str) -> None:
    assert stuck_by(plan(asked), **test) == said


def test_a_batch_that_the_kv_pool_does_not_hold_is_not_measured() -> None:
    small = replace(PLAN, server=replace(PLAN.server, pool_tokens=100_000))
    assert stuck_by(small) == "64 requests of 4096 tokens do not fit the 100000 tokens of KV that may be held"
    assert does_not_fit(replace(PLAN, server=replace(PLAN.server, pool_tokens=None)), SHAPE) is None


def test_whether_answers_are_right_is_seen_of_one_backend_alone() -> None:
    test = ReasonTest((Phase.PREFILL,), "trtllm_mha", "flashinfer", (90,), Expected.WRONG)
    assert obstacle(PLAN, test) is None
