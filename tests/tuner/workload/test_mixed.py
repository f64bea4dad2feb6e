from __future__ import annotations

from typing import Any

import pytest

from backends.drafting import Drafting
from store.plan import Server
from store.scenario import Role, WeightedCell
from tests.tuner.scenarios import scenario, server
from tuner.engines.sglang.questions import rank_layers
from tuner.workload.cells import cells_for


def cells(sizes: Server | None = None, **engine: Any) -> tuple[WeightedCell, ...]:
    asked = scenario(**{"mixed_chunk": True, **engine})
    return cells_for(asked, sizes or server(), rank_layers(asked), 1).cells


def output_tokens(found: tuple[WeightedCell, ...]) -> float:
    """That the steps make together, for each 1000 that they are counted for: prompts' own first tokens are not among them."""
    decoding = [(one, sum(new == 1 and prompt < context for new, prompt, context in rows(one))) for one in found]
    return sum(one.calls_per_1000_tokens * count for one, count in decoding)


def rows(one: WeightedCell) -> Any:
    return zip(one.cell.new_lens, one.cell.prompt_lens, one.cell.context_lens, strict=True)


def test_requests_that_run_decode_in_the_steps_that_compute_prompts() -> None:
    mixed = [one.cell for one in cells() if not one.cell.generates]
    assert [cell.name for cell in mixed] == ["mixed-fresh", "mixed-prefix"] and all(cell.mixed for cell in mixed)
    for cell in mixed:
        assert cell.new_lens[-64:] == (1,) * 64 and cell.new_tokens <= server().chunked_prefill_size


def test_all_steps_together_make_the_output_once() -> None:
    assert output_tokens(cells()) == pytest.approx(1000, rel=1e-9)


def test_as_many_requests_join_as_the_pool_holds_beside_the_prompts() -> None:
    roomy, tight = (cells(server(pool_tokens=tokens)) for tokens in (10**7, 140_000))
    alone = {one.cell.name: one.cell.batch for one in cells(server(pool_tokens=140_000), mixed_chunk=False)}
    for one in tight:
        assert sum(one.cell.context_lens) <= 140_000
    joined = [one.cell.batch for one in tight if one.cell.mixed]
    assert joined and max(joined) < max(one.cell.batch for one in roomy if one.cell.mixed) and alone


@pytest.mark.parametrize("engine", [{"mixed_chunk": False}, {"role": Role.PREFILL}], ids=str)
def test_a_server_that_does_not_mix_has_plain_prefills(engine: dict[str, Any]) -> None:
    assert not any(one.cell.mixed for one in cells(**engine))


def test_beside_drafts_nothing_is_mixed_and_the_plan_says_so() -> None:
    sizes = server(drafting=Drafting("EAGLE", 1, 3, 4))
    asked = scenario(mixed_chunk=True)
    found = cells_for(asked, sizes, rank_layers(asked), 1)
    assert not any(one.cell.mixed for one in found.cells) and any("mixed_chunk" in note for note in found.notes)
