"""Releases that somebody has taken back."""

from __future__ import annotations

from collections.abc import Iterator

from store.serving.diagnosis import Finding, Severity
from tuner.doctor.known import Known
from tuner.doctor.patient import Patient
from tuner.doctor.versions import within


def findings(patient: Patient, known: Known) -> Iterator[Finding]:
    sm = patient.environment.board.sm
    for package in patient.first_copies():
        for entry in known.releases:
            here = not entry.sm or sm in entry.sm
            if here and entry.distribution == package.name and within(package.version, entry.versions):
                yield Finding(
                    "version-withdrawn",
                    Severity.WARNING,
                    f"{package.name} {package.version} was taken back",
                    entry.what,
                    f"install {entry.instead}, or measure it knowing that",
                    entry.source,
                    (package.name,),
                )
