"""Environment variables that change kernels, and what each one does."""

from __future__ import annotations

from collections.abc import Iterator

from store.serving.diagnosis import Finding, Severity
from tuner.doctor.known import Known
from tuner.doctor.patient import Patient


def findings(patient: Patient, known: Known) -> Iterator[Finding]:
    effects = {effect.name: effect for effect in known.variables}
    unknown = []
    for name, value in patient.environment.variables:
        if name not in effects:
            unknown.append(f"{name}={value}")
            continue
        yield Finding(
            "variable-changes-kernels",
            effects[name].severity,
            f"{name}={value} is set",
            effects[name].effect,
            "unset it, or set it the same where the server runs",
            effects[name].source,
        )
    if unknown:
        yield _others(unknown)


def _others(settings: list[str]) -> Finding:
    return Finding(
        "variables-in-the-key",
        Severity.NOTE,
        f"set here: {', '.join(settings)}",
        "they may change kernels, so that a number measured with them holds with them alone",
        "set them the same where the server runs",
    )
