"""Trials to their rows and back. Nothing here touches a database."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from backends.measured import Cost, Identity, KernelNode, Soundness, Trial
from backends.outcome import Outcome
from backends.wire import from_plain, to_plain
from store.runs.run_keys import RunKeys
from store.tables.measured import TrialRow

# Fields of Trial that are columns of the same name.
SAME = (
    *("detail", "relative_error", "needle_error", "bandwidth_bytes_per_s", "flops_per_s"),
    *("slots", "pool_tokens", "peak_memory_bytes", "build_s", "capture_s"),
    *("rms_error", "workspace_bytes", "graph_bytes", "open_s", "first_call_s", "probed_in"),
)
IN_JSON = ("kernel_files", "soundness", "autotuned", "labels")
COST = tuple(field.name for field in fields(Cost))
Named: Any = tuple[tuple[str, str], ...]
KernelFiles: Any = tuple[tuple[str, str], ...] | None
Nodes: Any = tuple[KernelNode, ...]
Sound: Any = Soundness | None


def row_of_trial(trial: Trial, keys: RunKeys) -> TrialRow:
    row = TrialRow(run_key=keys.run, arm_key=keys.arm(trial.arm), cell_key=keys.cell(trial.cell), outcome=trial.outcome.value)
    columns: dict[str, Any] = {name: getattr(trial, name) for name in SAME}
    columns |= {name: to_plain(getattr(trial, name)) for name in IN_JSON}
    if trial.identity is not None:
        columns |= to_plain(trial.identity)
    if trial.cost is not None:
        columns |= to_plain(trial.cost)
    for name, value in columns.items():
        setattr(row, name, value)
    return row


def storable(trial: Trial) -> Trial:
    """What a crash printed may hold a NUL, which PostgreSQL keeps in no text."""
    return trial if trial.detail is None else replace(trial, detail=trial.detail.replace("\0", "\N{REPLACEMENT CHARACTER}"))


def trial_of_row(row: TrialRow) -> Trial:
    measured = row.outcome == Outcome.MEASURED.value
    return Trial(
        arm=row.arm.name,
        cell=row.cell.name,
        outcome=Outcome(row.outcome),
        identity=_identity_of(row) if measured else None,
        cost=Cost(**{name: getattr(row, name) for name in COST}) if measured else None,
        kernel_files=from_plain(KernelFiles, row.kernel_files),
        soundness=from_plain(Sound, row.soundness),
        autotuned=from_plain(Named, row.autotuned or []),
        labels=tuple(row.labels or ()),
        **{name: getattr(row, name) for name in SAME},
    )


def _identity_of(row: TrialRow) -> Identity:
    return Identity(str(row.resolved), str(row.mode), tuple(row.kernels or ()), from_plain(Nodes, row.nodes or []))
