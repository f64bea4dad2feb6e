"""From a trace to the record of its traffic: replayed on the server that is planned, or taken from the log of one that ran."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from backends.cell import Phase
from store.plan import Server
from store.recorded_traffic import Coverage, RecordedStep, RecordedTraffic, SpareStep
from store.scenario import Scenario
from store.traffic import Traffic
from tuner.errors import UsageError
from tuner.traffic.groups import Groups, far_half, gathered, points_of
from tuner.traffic.loads import MOST_LOADS
from tuner.traffic.outside import outside
from tuner.traffic.pace import Pace
from tuner.traffic.predicted import decode_share, tpot_ms, ttft_ms
from tuner.traffic.requests import Floats, Ints, Requests
from tuner.traffic.simulate import simulate
from tuner.traffic.simulated import rules_for
from tuner.traffic.steps import Steps, decode_steps, prefill_steps
from tuner.traffic.trace import Trace
from tuner.traffic.waiting import waiting
from tuner.workload.drafts import accepted_length
from tuner.workload.loads import longest_request
from tuner.workload.ranks import ranks_of

HOUR = 3600.0
MANY_HOURS, FEW_HOURS, PARTS = 24 * 14, 8, 8


def recorded_traffic(trace: Trace, scenario: Scenario, server: Server, page_size: int, pace: Pace) -> Traffic:
    """The scenario's traffic with the record in it, and with what the replay showed in the place of what was taken for granted."""
    if trace.requests is None:
        return _logged(trace, scenario.traffic, pace)
    groups = ranks_of(scenario.engine).attn_dp
    mine, longest = trace.requests.every(groups), longest_request(server)
    answered = mine.answered(longest)
    if not len(answered):
        raise UsageError(
            f"every prompt of the traffic is as long as the {longest} tokens that a request may reach, or longer: a server refuses them"
            " all; check traffic.path and its columns, engine.context_length and the model"
        )
    requests = answered.fitted(longest, page_size)
    rules = rules_for(server, page_size, _of_a_group(trace.at_once, groups), _mixes(trace, scenario), _accepted(trace, scenario, server))
    run = simulate(requests, rules, pace)
    steps = tuple(
        made(requests, run, pace, rules.accepted)
        for phase, made in ((Phase.DECODE, decode_steps), (Phase.PREFILL, prefill_steps))
        if phase in scenario.engine.role.phases
    )
    notes = (*trace.notes, *_refused(mine, answered, longest), *_cut(answered, requests), *waiting(run, rules, trace.at_once is None))
    record = _record(trace, steps, float(requests.output.sum()), run.end_s, notes, trace.requests.sha256)
    most = max((int(each.batch.max()) for each in steps if each.phase is Phase.DECODE and len(each.batch)), default=1)
    return replace(
        scenario.traffic,
        concurrency=most * groups,
        cached_share=float(requests.cached.sum() / requests.prompt.sum()),
        shared_prefix_tokens=requests.shared,
        recorded=replace(record, tpot_ms=tpot_ms(requests, run), ttft_ms=ttft_ms(run), decode_share=decode_share(steps, run)),
    )


def _mixes(trace: Trace, scenario: Scenario) -> bool:
    return trace.limits.mixed_chunks or scenario.engine.mixed_chunk


def _accepted(trace: Trace, scenario: Scenario, server: Server) -> float:
    """What is said of the traffic stands before what is said of the engine."""
    return trace.limits.accepted_length if trace.limits.accepted_length > 1 else accepted_length(scenario.engine.speculation, server)


def _of_a_group(at_once: int | None, groups: int) -> int | None:
    return None if at_once is None else math.ceil(at_once / groups)


def _logged(trace: Trace, traffic: Traffic, pace: Pace) -> Traffic:
    assert trace.logged is not None
    steps = tuple(each for each in trace.logged.steps(pace) if len(each.count))
    first = sum(float(each.batch.sum()) for each in steps if each.phase is Phase.PREFILL)  # tokens that no decode step made
    output = first + sum(float((each.count * each.tokens).sum()) for each in steps if each.phase is Phase.DECODE)
    end_s = max(float(each.at_s.max()) for each in steps)
    record = _record(trace, steps, output, end_s, trace.notes, trace.logged.sha256)
    most = max((int(each.batch.max()) for each in steps if each.phase is Phase.DECODE), default=1)
    return replace(traffic, concurrency=most, cached_share=trace.logged.cached_share(), recorded=record)


def _record(trace: Trace, steps: tuple[Steps, ...], output: float, end_s: float, notes: tuple[str, ...], sha256: str) -> RecordedTraffic:
    block_s = block_length(end_s)
    blocks = max(1, math.ceil(end_s / block_s))
    found = [(each, gathered(each, MOST_LOADS[each.phase])) for each in steps if len(each.count)]
    sums = _Sums(output, block_s, blocks)
    kept = tuple(one for each, groups in found for one in sums.kept(each, groups))
    before = accumulate((len(groups.middle) for _, groups in found), initial=0)
    spare = tuple(one for (each, groups), first in zip(found, before) for one in sums.spare(each, groups, first))
    coverage = tuple(Coverage(each.phase, groups.covered, outside(each, groups)) for each, groups in found)
    tokens = np.zeros(blocks)
    for each in steps:
        tokens += _by_block(each, each.count * each.tokens, block_s, blocks) if each.phase is Phase.DECODE else 0.0
    return RecordedTraffic(sha256, trace.layout, trace.rows, trace.bad, notes, block_s, tuple(tokens.tolist()), kept, coverage, spare=spare)


def block_length(span_s: float) -> float:
    """An hour; a day of a log of weeks, an eighth of one that is shorter than eight hours."""
    if span_s > MANY_HOURS * HOUR:
        return 24 * HOUR
    return HOUR if span_s >= FEW_HOURS * HOUR else max(span_s, 1e-9) / PARTS


@dataclass(frozen=True)
class _Sums:
    """How steps are counted: for each of ``output`` tokens, and in each of the blocks."""

    output: float
    block_s: float
    blocks: int

    def kept(self, steps: Steps, groups: Groups) -> Iterator[RecordedStep]:
        for group, middle in enumerate(groups.middle):
            yield self._step(steps, np.flatnonzero(groups.of == group), middle)

    def spare(self, steps: Steps, groups: Groups, first: int) -> Iterator[SpareStep]:
        """``first``: the number of the first group's step."""
        if len(groups.middle) == MOST_LOADS[steps.phase]:
            return
        points = points_of(steps)
        for group, middle in enumerate(groups.middle):
            if (half := far_half(points, np.flatnonzero(groups.of == group), middle)) is not None:
                yield SpareStep(first + group, self._step(steps, *half))

    def _step(self, steps: Steps, members: Ints, middle: int) -> RecordedStep:
        seconds, tokens, shape = steps.count * steps.attention_s, steps.count * steps.tokens, steps.shape(middle)
        mine = np.zeros(len(steps.count))
        mine[members] = steps.count[members]
        return RecordedStep(
            steps.phase,
            shape.contexts,
            shape.new,
            shape.prompts,
            token_share=float(tokens[members].sum() / tokens.sum()),
            attention_share=float(seconds[members].sum() / seconds.sum()),
            steps_per_1000_tokens=float(1000 * mine.sum() / self.output),
            block_steps=tuple(np.round(_by_block(steps, mine, self.block_s, self.blocks), 3).tolist()),
        )


def _by_block(steps: Steps, amount: Floats, block_s: float, blocks: int) -> Floats:
    at = np.minimum((steps.at_s / block_s).astype(np.int64), blocks - 1)
    return np.bincount(at, amount, blocks).astype(np.float64)


def _refused(before: Requests, after: Requests, longest: int) -> Iterator[str]:
    if refused := len(before) - len(after):
        yield (
            f"{refused} of {len(before)} prompts are as long as the {longest} tokens a request may reach, or longer: a server refuses them,"
            " and they are left out"
        )


def _cut(before: Requests, after: Requests) -> Iterator[str]:
    cut = int(((before.prompt > after.prompt) | (before.output > after.output)).sum())
    if cut:
        longest = int((after.prompt + after.output).max()) - 1
        yield f"{cut} of {len(before)} requests are longer than the {longest} tokens a request may reach and are cut there"
