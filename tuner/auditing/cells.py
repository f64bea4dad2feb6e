"""The cells on which a recorded reason is tested, beside those of the scenario. They weigh nothing and guard nothing."""

from __future__ import annotations

from collections.abc import Iterable

from backends.cell import Phase
from store.engines.recorded_reason import ReasonTest, Shape
from store.plan import Plan
from store.scenario import WeightedCell
from tuner.engines.lookup import rules_of
from tuner.workload.cells import cell_of
from tuner.workload.guards import affordable_tokens
from tuner.workload.loads import Load

PREFIX = "reason-"
DECODED = 4  # a quarter of a context was decoded, the rest came in as its prompt, as in `tuner.workload.guards`

Cells = tuple[WeightedCell, ...]


def reason_cells(plan: Plan, tests: Iterable[ReasonTest]) -> Cells:
    """Each shape of ``tests`` once, for every layer kind."""
    kinds = rules_of(plan.scenario).rank_layers(plan.scenario)
    shapes = dict.fromkeys(shape for test in tests for shape in test.shapes)
    return tuple(
        WeightedCell(cell_of(plan.scenario, plan.server, load_of(shape), kind, len(kinds) > 1), kind.layers, 0.0, 0.0)
        for shape in shapes
        for kind in kinds
    )


def load_of(shape: Shape) -> Load:
    decodes = shape.phase is Phase.DECODE
    new, prompt = (1, shape.tokens - shape.tokens // DECODED) if decodes else (shape.tokens, shape.tokens)
    contexts, new_lens, prompts = ((each,) * shape.requests for each in (shape.tokens, new, prompt))
    return Load(name_of(shape), shape.phase, contexts, new_lens, prompts, 0.0)


def name_of(shape: Shape) -> str:
    return f"{PREFIX}{shape.phase.value}-{shape.requests}x{shape.tokens}"


def of_scenario(cells: Cells) -> Cells:
    return tuple(weighted for weighted in cells if not weighted.cell.name.startswith(PREFIX))


def with_shape(cells: Cells, shape: Shape) -> Cells:
    return tuple(weighted for weighted in cells if has_shape(weighted, shape))


def has_shape(weighted: WeightedCell, shape: Shape) -> bool:
    """A cell of ours by its name, since ranks may hold parts of its lengths; any other by its lengths."""
    cell = weighted.cell
    if cell.name.startswith(PREFIX):
        return cell.name.removesuffix(f"-{cell.layer.name}") == name_of(shape)
    decodes = shape.phase is Phase.DECODE
    alike = cell.phase is shape.phase and cell.batch == shape.requests and set(cell.context_lens) == {shape.tokens}
    return alike and (decodes or cell.new_lens == cell.context_lens)


def does_not_fit(plan: Plan, shape: Shape) -> str | None:
    """Why the server would never hold such a batch, or the measurement may not."""
    server, tokens = plan.server, shape.requests * shape.tokens
    if shape.tokens > server.context_length:
        return f"a request of {shape.tokens} tokens is longer than the {server.context_length} that the server takes"
    if shape.phase is Phase.PREFILL and tokens > server.chunked_prefill_size:
        return f"{tokens} prompt tokens are more than the {server.chunked_prefill_size} of a prefill chunk"
    if server.pool_tokens is None or plan.scenario.gpu.memory_bytes is None:
        return None
    room = min(server.pool_tokens, affordable_tokens(plan.scenario, plan.cells, plan.arms))
    wanted = f"{shape.requests} requests of {shape.tokens} tokens"
    return f"{wanted} do not fit the {room} tokens of KV that may be held" if tokens > room else None
