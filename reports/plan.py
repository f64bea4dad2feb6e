"""A plan as text for a terminal and as data: what would run, what would not and why, on which cells, at what cost."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from backends.arm import Arm
from backends.cell import Phase
from backends.wire import to_plain
from reports import asked, left_out, numbers, recorded_reason, searched, traffic, wording
from reports.gpu import gpu_section
from reports.json_line import json_line
from reports.page import Section, Table, text
from store.engines.rule_path import RuleStep
from store.plan import Plan
from store.scenario import WeightedCell


def render_json(plan: Plan) -> str:
    return json_line(to_plain(plan))


def render_text(plan: Plan) -> str:
    """Sections in the order a reader asks: what makes all of it pointless, the default, the arms, the rest, the cells, the cost."""
    sections = (
        Section("A run would pin nothing", plan.fatal),
        _default(plan),
        _path(plan),
        _arms(plan),
        *left_out.sections(plan),
        traffic.section(plan.scenario.traffic) or Section("Traffic", ()),
        searched.space_section(plan.space) or Section("Knobs", ()),
        _cells(plan),
        gpu_section(plan.scenario.gpu),
        _cost(plan),
        Section("Notes", (*plan.beforehand, *plan.notes)),
    )
    title = f"{plan.scenario.model.name} on {plan.scenario.gpu.name}, {plan.scenario.traffic.name} traffic"
    return "\n\n".join([title, *(text(section) for section in sections if section.body)]) + "\n"


def _default(plan: Plan) -> Section:
    default, engine = plan.default, plan.scenario.engine
    return Section(
        f"{wording.engine(engine.name)} {engine.version} would {_picked(plan)}",
        (
            f"page size {default.page_size}, KV cache {default.kv_cache_dtype}, {wording.ranks(engine)}",
            default.because,
            *asked.lines(default.asked, engine.name),
        ),
    )


def _path(plan: Plan) -> Section:
    title = f"By these rules of {wording.engine(plan.scenario.engine.name)} {plan.default.rules_version}"
    if plan.default.asked and plan.default.asked.differences:
        title = "attnpin's rules, which do not explain this answer, go this way"
    return Section(title, tuple(line for step in plan.path for line in _step(step, plan.scenario.engine.role.phases)))


def _step(step: RuleStep, served: Collection[Phase]) -> Iterator[str]:
    yield f"{step.rule}: {step.effect}, if {step.condition}. {step.because}"
    if step.recorded and not set(step.recorded.reason.test.phases).isdisjoint(served):
        yield recorded_reason.line(step.recorded)


def _picked(plan: Plan) -> str:
    """A choice that the engine replaces (as it does on an NPU) is not called kept."""
    default, chosen = plan.default, wording.choices(plan.scenario)
    if not chosen:
        return f"pick by itself: {default.backends}"
    kept = {default.prefill, default.decode} & {backend for _, backend in plan.scenario.engine.choices}
    whose = wording.whose_choice(plan.scenario)
    return f"run {default.backends}: {whose} ({chosen}) is kept" if kept else f"run {default.backends}, with {chosen}"


def _arms(plan: Plan) -> Section:
    rows = tuple((_named(arm), arm.provider.value, str(arm.page_size), _phases(arm, plan), _remark(arm, plan)) for arm in plan.arms)
    header = ("backend", "driven by", "page size", "phases", "")
    return Section(f"Would be measured: {wording.count(len(rows), 'arm')}", (Table(header, rows),) if rows else ("nothing",))


def _named(arm: Arm) -> str:
    return arm.backend + "".join(f", {name}={value}" for name, value in arm.knobs)


def _phases(arm: Arm, plan: Plan) -> str:
    phases, barred = plan.scenario.engine.role.phases, {exclusion.backend: exclusion.phase for exclusion in plan.exclusions}
    if len(phases) == 1:
        return phases[0].value
    return {"prefill": "decode", "decode": "prefill"}.get(barred.get(arm.backend) or "", "both")


def _remark(arm: Arm, plan: Plan) -> str:
    default = arm.backend in (plan.default.prefill, plan.default.decode)
    whose = wording.whose_choice(plan.scenario) if arm.backend in dict(plan.scenario.engine.choices).values() else "the default"
    eager = arm.backend in plan.eager and plan.scenario.gpu.kind == "cuda"
    late = any(terms.arm == arm.name and terms.may_compile_while_serving for terms in plan.terms)
    barred = any(terms.arm == arm.name and terms.barred for terms in plan.terms)
    marks = (
        *((whose, default), ("served without CUDA graphs", eager), ("may compile while serving", late)),
        ("named by you, may not be pinned", barred),
    )
    return ", ".join(said for said, holds in marks if holds)


def _cells(plan: Plan) -> Section:
    header = ("cell", "requests", "launched", "mean context", "longest", "new tokens", "share", "steps per 1000 tokens", "layers")
    return Section("Cells", (_server(plan), Table(header, tuple(_cell(weighted) for weighted in plan.cells))))


def _server(plan: Plan) -> str:
    server, phases = plan.server, plan.scenario.engine.role.phases
    graphs = f"decode graphs up to {max(server.captured_batches)}" if server.captured_batches else "no decode graphs"
    pool = f"about {server.pool_tokens} tokens of KV (estimate)" if server.pool_tokens else "an unknown KV capacity"
    sizes = [
        f"context {server.context_length}",
        *([f"prefill chunk {server.chunked_prefill_size}"] if Phase.PREFILL in phases else []),
        *([graphs] if Phase.DECODE in phases else []),
        pool,
    ]
    return f"server: {', '.join(sizes)}"


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
    if not plan.arms:
        return Section("Cost of a run (estimate)", ())
    time = numbers.seconds(cost.seconds) if cost.seconds is not None else numbers.UNKNOWN
    memory = numbers.gib(cost.memory_bytes) if cost.memory_bytes is not None else numbers.UNKNOWN
    return Section("Cost of a run (estimate)", (f"time: {time}; device memory: at most {memory}", f"from {cost.basis}"))
