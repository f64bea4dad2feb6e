"""Which pairs of arms could serve together, and which of them may be ranked against the default."""

from __future__ import annotations

from collections.abc import Iterable

from backends.arm import Arm, Provider
from backends.cell import Phase
from store.decision import Pair
from tuner.deciding.table import Table
from tuner.limits import serves


def pairs_of(table: Table) -> tuple[Pair, ...]:
    """Every prefill arm with every decode arm of the same page size and KV dtype, each usable on every cell of its phase.

    One page size and one KV dtype serve both phases, so pairs are filtered, not picked a phase at a time. On a server of one
    phase, whose cells are all of it, an arm is its own partner; so it is on one that verifies drafts on the prefill side.
    """
    phases = {weighted.cell.phase for weighted in table.cells}
    if len(phases) == 1:
        alone = (arm for arm in _usable(table, *phases) if all(serves(arm, phase, table.exclusions) for phase in Phase))
        return tuple(Pair(arm.name, arm.name) for arm in alone)
    return tuple(
        Pair(prefill.name, decode.name)
        for prefill in _usable(table, Phase.PREFILL)
        for decode in _usable(table, Phase.DECODE)
        if (prefill.page_size, prefill.kv_dtype) == (decode.page_size, decode.kv_dtype) and _one_server(prefill, decode)
    )


def _one_server(prefill: Arm, decode: Arm) -> bool:
    """Whether one command line and one environment give both their knobs: what is set for one arm holds for the other of its backend."""
    if prefill.backend == decode.backend:
        return prefill.knobs == decode.knobs
    mine, theirs = dict(prefill.knobs), dict(decode.knobs)
    return all(theirs.get(name, value) == value for name, value in mine.items())


def _usable(table: Table, phase: Phase) -> list[Arm]:
    """Usable arms; a kernel adapter only where the engine's own object of the same backend is not usable beside it."""
    arms = [arm for arm in table.arms.values() if table.usable(arm.name, phase)]
    served = {_request(arm) for arm in arms if arm.provider is Provider.ENGINE}
    return [arm for arm in arms if arm.provider is Provider.ENGINE or _request(arm) not in served]


def _request(arm: Arm) -> tuple[str, int, str, tuple[tuple[str, str], ...]]:
    return arm.backend, arm.page_size, arm.kv_dtype, arm.knobs


def unranked(table: Table, pair: Pair, default: Pair | None, pairs: Iterable[Pair]) -> str | None:
    """Why ``pair`` is shown but not ranked: processes without it between others, another mode, or the default under another name."""
    return _thin(table, pair, [default] if default else pairs) or _other_mode(table, pair, default) or _same_arm(table, pair, default)


def _thin(table: Table, pair: Pair, others: Iterable[Pair]) -> str | None:
    """One that was in every process up to some and in none thereafter has left the race, which is another matter."""
    had = len(table.shared([pair], table.weighted()))
    return None if had and had == table.from_the_start(pair) else thin(table, pair, others)


def thin(table: Table, pair: Pair, others: Iterable[Pair]) -> str | None:
    cells = table.weighted()
    had = len(table.shared([pair], cells))
    wanted = max((len(table.shared([other], cells)) for other in others), default=0)
    return f"timed on every cell in {had} of {wanted} processes: shown, not ranked" if had < max(1, wanted) else None


def _other_mode(table: Table, pair: Pair, default: Pair | None) -> str | None:
    """An eager time holds launch gaps that a graph replay does not: the two are never ranked on one cell."""
    for weighted in table.cells:
        cell, phase = weighted.cell.name, weighted.cell.phase
        arm = pair.of(phase)
        expected, whose = _expected_mode(table, cell, phase, default)
        if expected is not None and table.mode(arm, cell) != expected:
            return f"{arm} runs {cell} in {table.mode(arm, cell)} mode, {whose} in {expected} mode: shown, not ranked"
    return None


def _expected_mode(table: Table, cell: str, phase: Phase, default: Pair | None) -> tuple[str | None, str]:
    """The default's mode; without one, graph as soon as any usable arm has it."""
    if default is not None:
        return table.mode(default.of(phase), cell), default.of(phase)
    modes = {arm.name: table.mode(arm.name, cell) for arm in _usable(table, phase)}
    graphs = sorted(name for name, mode in modes.items() if mode == "graph")
    return ("graph", graphs[0]) if graphs else ("eager", "every other arm")


def _same_arm(table: Table, pair: Pair, default: Pair | None) -> str | None:
    """Two names for the same kernels are one arm; ranking them would rank noise."""
    if default is None:
        return None
    for phase in Phase:
        arm, other = table.arms[pair.of(phase)], table.arms[default.of(phase)]
        if arm is not other and (arm.page_size, arm.knobs) == (other.page_size, other.knobs) and _same_kernels(table, arm, other, phase):
            return f"{arm.name} launched the kernels of {other.name} in {phase.value}: one arm under two names"
    return None


def _same_kernels(table: Table, arm: Arm, other: Arm, phase: Phase) -> bool:
    keys = [weighted.cell.name for weighted in table.cells_of(phase)]
    kernels = [(_kernels(table, arm, cell), _kernels(table, other, cell)) for cell in keys]
    return bool(kernels) and all(one and one == two for one, two in kernels)


def _kernels(table: Table, arm: Arm, cell: str) -> tuple[str, ...]:
    identity = table.trials[arm.name, cell].identity
    return identity.kernels if identity else ()
