"""Caches of compiled kernels that hold up whoever loads from them."""

from __future__ import annotations

from collections.abc import Iterator

from store.serving.diagnosis import Finding, Severity
from tuner.doctor.known import Known
from tuner.doctor.patient import Patient

LONGEST_BUILD_S = 600  # no kernel takes longer to compile, so that nobody holds an older lock


def findings(patient: Patient, known: Known) -> Iterator[Finding]:
    for lock in patient.condition.locks:
        if lock.age_s > LONGEST_BUILD_S:
            yield Finding(
                "lock-left-behind",
                Severity.WARNING,
                f"{lock.path} has been there for {lock.age_s / 3600:.1f} hours, in a cache of compiled kernels",
                "a build that was killed left it; whoever loads that kernel waits for it without end, and looks like a backend that hangs",
                "remove the file, or start from a fresh cache folder (FLASHINFER_WORKSPACE_BASE, TORCH_EXTENSIONS_DIR)",
                "https://github.com/sgl-project/sglang/issues/3578; torch/utils/file_baton.py (2.13)",
            )
