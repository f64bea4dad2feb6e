"""What a request became on either side: another inner path, other kernels, or the same code as before. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from backends.measured import Identity, KernelNode, Trial, code_id
from reports import wording
from reports.kernel_names import launched, short
from store.comparisons.side_by_side import SideBySide
from store.runs.run import Run
from store.verdicts.version_verdict import Beside, Broken, Dispatch
from tuner.racing.sieve import Measured, measured_trials

SHOWN = 3  # launches described in a sentence
WORTH = 0.1  # a fraction: smaller changes of what stands beside the time are nobody's business
LEAST = {"s": 1.0, "us": 5.0, "bytes": 64 << 20, "": 1e-4}  # nor are these


def dispatches(measured: SideBySide) -> tuple[Dispatch, ...]:
    """Of every arm and cell that ran on both sides."""
    old, new = _measured(measured.baseline), _measured(measured.candidate)
    found = ((key, old[key].identity, new[key].identity) for key in old if key in new)
    return tuple(_dispatch(*key, before, after, _twin(key, before, old)) for key, before, after in found if before and after)


def _dispatch(arm: str, cell: str, before: Identity, after: Identity, twin: str | None) -> Dispatch:
    same = None if not (before.nodes and after.nodes) else code_id(before.nodes) == code_id(after.nodes)
    old, new = (f"{each.resolved}, {each.mode}" if before.mode != after.mode else each.resolved for each in (before, after))
    return Dispatch(arm, cell, old, new, _kernels(before, after), same, twin)


def _twin(key: tuple[str, str], before: Identity, baseline: Measured) -> str | None:
    """What a path that a library chose by itself ("auto") came to: the arm that names it and launched the same."""
    others = ((arm, trial.identity) for (arm, cell), trial in baseline.items() if cell == key[1] and arm != key[0])
    return next((arm for arm, its in others if its and its.resolved != before.resolved and _alike(its, before)), None)


def _alike(one: Identity, other: Identity) -> bool:
    return bool(one.kernels) and one.kernels == other.kernels and code_id(one.nodes) == code_id(other.nodes)


def _kernels(before: Identity, after: Identity) -> str | None:
    """By name, then by how they are launched."""
    if before.kernels != after.kernels:
        gone, come = Counter(before.kernels) - Counter(after.kernels), Counter(after.kernels) - Counter(before.kernels)
        return _replaced(gone, come) or "launched in another order"
    names = before.kernels if len(before.kernels) == len(before.nodes) else [node.name for node in before.nodes]
    different = [_launch(short(name), *nodes) for name, *nodes in zip(names, before.nodes, after.nodes) if nodes[0] != nodes[1]]
    return wording.the_first(different, SHOWN) or None


def _replaced(gone: Counter[str], come: Counter[str]) -> str:
    """By short names; what has the same on both sides is one kernel with other template arguments."""
    old, new = (Counter(map(short, names.elements())) for names in (gone, come))
    parts = (("gone:", old - new), ("new:", new - old), ("another variant of", old & new))
    return "; ".join(f"{word} {launched(list(names.elements()))}" for word, names in parts if names)


def _launch(name: str, before: KernelNode, after: KernelNode) -> str:
    fields = (("grid", before.grid, after.grid), ("block", before.block, after.block), ("shared", before.shared_bytes, after.shared_bytes))
    changes = [f"{what} {old} to {new}" for what, old, new in fields if old != new]
    return f"{name}: {', '.join(changes) or 'other machine code'}"


def broken(measured: SideBySide) -> tuple[Broken, ...]:
    """What was measured in the baseline and failed in the candidate."""
    old, last = _measured(measured.baseline), {(trial.arm, trial.cell): trial for trial in measured.candidate.trials}
    failed = (trial for key, trial in last.items() if key in old and key not in _measured(measured.candidate))
    return tuple(Broken(trial.arm, trial.cell, trial.outcome, trial.detail or "") for trial in failed)


def beside(measured: SideBySide) -> tuple[Beside, ...]:
    """Start-up, plans, memory and errors that moved by `WORTH` and more than `LEAST`."""
    old, new = _measured(measured.baseline), _measured(measured.candidate)
    return tuple(each for key in old if key in new for each in _beside(key, old, new) if _counts(each))


def _beside(key: tuple[str, str], old: Measured, new: Measured) -> Iterator[Beside]:
    before, after = old[key], new[key]
    built_alike = _origins(before) == _origins(after)
    readings = (
        ("first call", before.first_call_s, after.first_call_s if built_alike else None, "s"),
        ("workspace", before.workspace_bytes, after.workspace_bytes, "bytes"),
        ("graph", before.graph_bytes, after.graph_bytes, "bytes"),
        ("error", before.rms_error, after.rms_error, ""),
    )
    yield from (Beside(*key, what, was, now, unit) for what, was, now, unit in readings if was is not None and now is not None)
    if before.cost and after.cost:
        yield Beside(*key, "plan", before.cost.metadata_idle_us, after.cost.metadata_idle_us, "us")


def _origins(trial: Trial) -> frozenset[str]:
    """Whether its first call built kernels, or found those of an arm that was probed before it."""
    return frozenset(where for _, where in trial.kernel_files or ())


def _counts(each: Beside) -> bool:
    return abs(each.after - each.before) > max(LEAST[each.unit], WORTH * each.before)


def _measured(run: Run) -> Measured:
    return measured_trials(run.trials)
