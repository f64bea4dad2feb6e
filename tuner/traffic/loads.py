"""The steps that a record of traffic kept, as loads: a name for each, and those that this server cannot run left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from itertools import islice

from backends.cell import Phase
from store.plan import Server
from store.recorded_traffic import RecordedStep, RecordedTraffic
from tuner.workload.loads import Load
from tuner.workload.reach import reachable

MOST_LOADS = {Phase.DECODE: 12, Phase.PREFILL: 8}


def recorded_loads(
    recorded: RecordedTraffic, shared_prefix: int, server: Server, page_size: int
) -> tuple[tuple[Load, ...], tuple[str, ...]]:
    """Loads, and a sentence for each step that is left out. Where all of a phase would be, they stay."""
    found: list[Load] = []
    notes: list[str] = []
    named = dict(islice(named_steps(recorded).items(), len(recorded.steps)))
    for phase in Phase:
        loads = tuple(load_of(name, step, shared_prefix) for name, step in named.items() if step.phase is phase)
        kept, said = reachable(loads, server, page_size)
        found += kept or loads
        notes += said if kept else ()
    return tuple(found), tuple(notes)


def named_steps(recorded: RecordedTraffic) -> dict[str, RecordedStep]:
    """Each by the name of its load, spare ones last."""
    found: dict[str, RecordedStep] = {}
    counts: Counter[str] = Counter()
    for step in (*recorded.steps, *(spare.step for spare in recorded.spare)):
        name = _name(step)
        counts[name] += 1
        found[name if counts[name] == 1 else f"{name}-{counts[name]}"] = step
    return found


def spare_steps(recorded: RecordedTraffic) -> dict[str, str]:
    """Names of spare steps by the step that each is a part of."""
    names = tuple(named_steps(recorded))
    return {names[spare.of]: names[len(recorded.steps) + number] for number, spare in enumerate(recorded.spare)}


def block_steps(recorded: RecordedTraffic, there: Collection[str]) -> dict[str, tuple[float, ...]]:
    """Steps in each block that the loads named ``there`` stand for: where a spare one is among them, its own no longer count elsewhere."""
    steps, spare = named_steps(recorded), spare_steps(recorded)
    found = {name: steps[name].block_steps for name in there}
    for name, part in spare.items():
        if name in found and part in found:
            found[name] = tuple(whole - mine for whole, mine in zip(found[name], found[part]))
    return found


def load_of(name: str, step: RecordedStep, shared_prefix: int) -> Load:
    lens = step.context_lens, step.new_lens, step.prompt_lens
    return Load(name, step.phase, *lens, step.token_share, shared_prefix, step.steps_per_1000_tokens)


def _name(step: RecordedStep) -> str:
    """ "decode-12-1874": requests and mean context; "prefill-8192-11900": new tokens and mean context."""
    context = round(sum(step.context_lens) / len(step.context_lens))
    first = len(step.context_lens) if step.phase is Phase.DECODE else sum(step.new_lens)
    return f"{step.phase.value}-{first}-{context}"
