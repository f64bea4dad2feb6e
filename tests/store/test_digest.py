from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from backends.cell import Phase
from backends.environment import Environment
from store.digest import audit_digest, canonical, cell_digest, run_digest, simulated_digest
from store.revisit import Condition
from store.scenario import Scenario
from tests.backends.simulated.worlds import CALM, fault, struck
from tests.store.building import environment, scenario, weighted

Asked = tuple[Scenario, Environment, int]


def digest(change: Callable[[Scenario, Environment], Asked]) -> str:
    return run_digest(*change(scenario(), environment()))


SAME = digest(lambda s, e: (s, e, 1))


@pytest.mark.parametrize(
    "change",
    [
        lambda s, e: (replace(s, model=replace(s.model, source="read elsewhere")), e, 1),
        lambda s, e: (replace(s, traffic=replace(s.traffic, source="read elsewhere")), e, 1),
        lambda s, e: (replace(s, gpu=replace(s.gpu, source="read elsewhere")), e, 1),
        lambda s, e: (s, replace(e, imports=()), 1),
        lambda s, e: (s, replace(e, distributions=e.distributions[::-1]), 1),
    ],
)
def test_where_a_datum_was_read_and_in_what_order_does_not_change_the_digest(change: Callable[..., Asked]) -> None:
    assert digest(change) == SAME


def test_settings_that_came_later_count_where_they_are_set_alone() -> None:
    drafts = scenario().engine.speculation
    later = (
        {"mixed_chunk": True},
        {"speculation": replace(drafts, accepted_length=2.5)},
        {"speculation": replace(drafts, attention_mode="decode")},
    )
    found = {digest(lambda s, e, change=change: (replace(s, engine=replace(s.engine, **change)), e, 1)) for change in later}
    assert len({SAME, *found}) == 4


@pytest.mark.parametrize(
    "change",
    [
        lambda s, e: (s, e, 2),
        lambda s, e: (replace(s, traffic=replace(s.traffic, concurrency=65)), e, 1),
        lambda s, e: (replace(s, engine=replace(s.engine, path=())), e, 1),
        lambda s, e: (replace(s, measure=replace(s.measure, processes=5)), e, 1),
        lambda s, e: (replace(s, measure=replace(s.measure, sensitivity=(Condition.SANDWICH,))), e, 1),
        lambda s, e: (replace(s, decide=replace(s.decide, min_gain=0.02)), e, 1),
        lambda s, e: (s, replace(e, board=replace(e.board, uuid="GPU-other")), 1),
        lambda s, e: (s, replace(e, board=replace(e.board, power_limit_w=600.0)), 1),
        lambda s, e: (s, replace(e, board=replace(e.board, mig="3g.71gb")), 1),
        lambda s, e: (s, replace(e, board=replace(e.board, sm_count=60)), 1),
        lambda s, e: (s, replace(e, board=replace(e.board, memory_bytes=71 << 30)), 1),
        lambda s, e: (replace(s, gpu=replace(s.gpu, name="NVIDIA H200 MIG 3g.71gb")), e, 1),
        lambda s, e: (s, replace(e, distributions=(replace(e.distributions[0], digest="rebuilt"), e.distributions[1])), 1),
        lambda s, e: (s, replace(e, variables=()), 1),
    ],
)
def test_what_changes_the_question_or_the_numbers_changes_the_digest(change: Callable[..., Asked]) -> None:
    assert digest(change) != SAME


def test_a_run_with_cells_of_its_own_is_another_than_that_of_its_scenario_whatever_the_order_of_the_cells() -> None:
    one, two = weighted(0).cell, weighted(1).cell
    found = audit_digest(SAME, (one, two))
    assert found == audit_digest(SAME, (two, one)) == audit_digest(SAME, (replace(one, name="called otherwise"), two))
    assert len({SAME, found, audit_digest(SAME, ()), audit_digest(SAME, (one,)), audit_digest("other", (one, two))}) == 5


def test_a_run_on_a_simulated_gpu_is_another_whenever_the_gpu_is_or_something_else_befalls_it() -> None:
    worlds = (CALM, replace(CALM, seed=1), replace(CALM, telling=False), struck(fault("thermal")), struck(fault("thermal", process=3)))
    assert len({SAME, *(simulated_digest(SAME, world) for world in worlds)}) == 1 + len(worlds)
    assert simulated_digest(SAME, replace(CALM)) == simulated_digest(SAME, CALM) != simulated_digest("other", CALM)


def test_a_digest_is_the_same_in_every_process() -> None:
    assert SAME == "eedfb57241401382d6b078a90f643353d0363f803f9a40177482ff260c3aba0d"


def test_a_cell_has_one_digest_under_any_name() -> None:
    cell = weighted(0).cell
    assert cell_digest(replace(cell, name="other")) == cell_digest(cell)
    assert cell_digest(replace(cell, seed=8)) != cell_digest(cell)


def test_a_verify_step_is_another_cell_than_the_prefill_of_its_lengths() -> None:
    cell = weighted(0).cell
    chunk = replace(cell, phase=Phase.PREFILL, new_lens=(2,) * cell.batch, padded_batch=cell.batch)
    assert cell_digest(replace(chunk, draft=(-1, 0))) != cell_digest(chunk)


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError):
        canonical({"x": float("nan")})
