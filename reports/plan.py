"""A plan as text for a terminal and as data: what would run, what would not and why, on which cells, at what cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from json import dumps

from backends.arm import Arm
from backends.wire import to_plain
from reports import numbers, wording
from reports.page import Section, Table, text
from store.plan import Plan, Server
from store.scenario import NO_DRIVER, Exclusion, WeightedCell


def render_json(plan: Plan) -> str:
    return dumps(to_plain(plan)) + "\n"


def render_text(plan: Plan) -> str:
    """Sections in the order a reader asks: the default, the arms, the rest, the cells, the cost."""
    sections = (
        _default(plan),
        _arms(plan),
        *_excluded(exclusion for exclusion in plan.exclusions if not _is_gap(exclusion)),
        _gaps(exclusion for exclusion in plan.exclusions if _is_gap(exclusion)),
        _pages(plan),
        _cells(plan),
        _cost(plan),
        Section("Notes", (*plan.beforehand, *plan.notes)),
    )
    title = f"{plan.scenario.model.name} on {plan.scenario.gpu.name}, {plan.scenario.traffic.name} traffic"
    return "\n\n".join([title, *(text(section) for section in sections if section.body)]) + "\n"


def _is_gap(exclusion: Exclusion) -> bool:
    return all(reason.rule == NO_DRIVER for reason in exclusion.reasons)


def _default(plan: Plan) -> Section:
    default, engine = plan.default, plan.scenario.engine
    backends = default.decode if default.prefill == default.decode else f"prefill {default.prefill}, decode {default.decode}"
    return Section(
        f"{wording.engine(engine.name)} {engine.version} would pick by itself: {backends}",
        (f"page size {default.page_size}, KV cache {default.kv_cache_dtype}, tensor parallel {engine.tensor_parallel}", default.because),
    )


def _arms(plan: Plan) -> Section:
    barred = {exclusion.backend: exclusion.phase for exclusion in plan.exclusions}
    rows = tuple((arm.backend, arm.provider.value, str(arm.page_size), _phases(arm, barred), _remark(arm, plan)) for arm in plan.arms)
    header = ("backend", "driven by", "page size", "phases", "")
    return Section(f"Would be measured: {wording.count(len(rows), 'arm')}", (Table(header, rows),) if rows else ("nothing",))


def _phases(arm: Arm, barred: dict[str, str | None]) -> str:
    return {"prefill": "decode", "decode": "prefill"}.get(barred.get(arm.backend) or "", "both")


def _remark(arm: Arm, plan: Plan) -> str:
    default = arm.backend in (plan.default.prefill, plan.default.decode)
    eager = arm.backend in plan.eager and plan.scenario.gpu.kind == "cuda"
    return ", ".join(said for said, holds in (("the default", default), ("served without CUDA graphs", eager)) if holds)


def _excluded(exclusions: Iterable[Exclusion]) -> Iterator[Section]:
    """Backends that one question keeps out stand together, under what was asked and what to do about it."""
    groups: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for exclusion in exclusions:
        who = f"{exclusion.backend} ({exclusion.phase})" if exclusion.phase else exclusion.backend
        for reason in exclusion.reasons:
            groups.setdefault((reason.asked, reason.remedy), []).append((who, reason.allowed, reason.source))
    for (asked, remedy), rows in groups.items():
        yield Section(f"Excluded, since {asked} is asked; {remedy}", (Table(("backend", "allowed", "source"), tuple(rows)),))


def _gaps(exclusions: Iterable[Exclusion]) -> Section:
    """Backends that no limit keeps out, and that attnpin cannot drive all the same."""
    rows = tuple((gap.backend, reason.asked, reason.allowed, reason.source) for gap in exclusions for reason in gap.reasons)
    table = Table(("backend", "asked", "drivers", "source"), rows)
    return Section("No limit speaks against these, but attnpin cannot drive them", (table,) if rows else ())


def _pages(plan: Plan) -> Section:
    lines = (
        f"{page.backend} would run with page size {page.tokens}, not {page.asked or 'the default'}: prefix reuse and whatever "
        f"outside the engine knows the page size (a router) would have to follow"
        for page in plan.page_sizes
    )
    return Section("Forced page sizes", tuple(lines))


def _cells(plan: Plan) -> Section:
    header = ("cell", "requests", "launched", "mean context", "longest", "new tokens", "share", "steps per 1000 tokens", "layers")
    return Section("Cells", (_server(plan.server), Table(header, tuple(_cell(weighted) for weighted in plan.cells))))


def _server(server: Server) -> str:
    pool = f"about {server.pool_tokens} tokens of KV (estimate)" if server.pool_tokens else "an unknown KV capacity"
    graphs = f"decode graphs up to {max(server.captured_batches)}" if server.captured_batches else "no decode graphs"
    return f"server: context {server.context_length}, prefill chunk {server.chunked_prefill_size}, {graphs}, {pool}"


def _cell(weighted: WeightedCell) -> tuple[str, ...]:
    cell = weighted.cell
    return (
        cell.name,
        str(cell.batch),
        str(cell.padded_batch),
        f"{sum(cell.context_lens) / cell.batch:.0f}",
        str(max(cell.context_lens)),
        str(cell.new_tokens),
        wording.share(weighted),
        numbers.significant(weighted.calls_per_1000_tokens, 3),
        str(weighted.layers),
    )


def _cost(plan: Plan) -> Section:
    cost = plan.estimate
    time = numbers.seconds(cost.seconds) if cost.seconds is not None else numbers.UNKNOWN
    memory = numbers.gib(cost.memory_bytes) if cost.memory_bytes is not None else numbers.UNKNOWN
    return Section("Cost of a run (estimate)", (f"time: {time}; device memory: at most {memory}", f"from {cost.basis}"))
