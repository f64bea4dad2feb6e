"""Whether this is a Python that could serve at all: torch, and the engine."""

from __future__ import annotations

from collections.abc import Iterator

from store.serving.diagnosis import Finding, Severity
from tuner.doctor.known import Known
from tuner.doctor.patient import Patient


def findings(patient: Patient, known: Known) -> Iterator[Finding]:
    if patient.torch is None:
        yield Finding(
            "no-torch",
            Severity.FAULT,
            f"the worker's Python {patient.environment.python} has no torch",
            "nothing can be measured there",
            "point engine.command to the Python that serves, or engine.path to the folder that holds its packages",
        )
    elif patient.engine not in {module.name for module in patient.condition.provided} and patient.version(patient.engine) is None:
        yield Finding(
            "no-engine",
            Severity.NOTE,
            f"{patient.engine} is not on the worker's path",
            "arms are driven through the kernels' own libraries, and the default is told by attnpin's rules instead of the engine's",
            "point engine.command or engine.path to where it is installed",
        )
