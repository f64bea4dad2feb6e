"""What the installed distributions ask of one another (Requires-Dist), and is not so."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.markers import UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement

from backends.condition import Installed
from store.diagnosis import Finding, Severity
from tuner.doctor.known import Known
from tuner.doctor.patient import Patient
from tuner.doctor.versions import parsed


def findings(patient: Patient, known: Known) -> Iterator[Finding]:
    """One for every distribution that asks for another version of a kernel distribution than the one installed."""
    names = {each.name for each in known.distributions}
    for package in patient.first_copies():
        asked = [each for each in _requirements(package, patient) if _normal(each.name) in names]
        other = [(_normal(each.name), text) for each in asked if (text := _other_version(each, patient))]
        if other:
            yield _finding(package, other)


def _requirements(package: Installed, patient: Patient) -> Iterator[Requirement]:
    """Those that hold without extras; what cannot be read is left to the installer."""
    python = patient.environment.python
    surroundings = {"extra": "", "python_full_version": python, "python_version": ".".join(python.split(".")[:2])}
    for text in package.requires:
        try:
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate(surroundings):
                yield requirement
        except (InvalidRequirement, UndefinedEnvironmentName):
            continue


def _other_version(requirement: Requirement, patient: Patient) -> str | None:
    found = patient.version(_normal(requirement.name))
    version = parsed(found) if found else None
    if version is None or requirement.specifier.contains(version, prereleases=True):
        return None
    return f"{_normal(requirement.name)}{requirement.specifier} ({found} is installed)"


def _finding(package: Installed, other: list[tuple[str, str]]) -> Finding:
    """``other``: names, and what is asked of each in words."""
    return Finding(
        "requirement-not-met",
        Severity.WARNING,
        f"{package.name} {package.version} requires {', '.join(text for _, text in other)}",
        "this combination is nobody's release: calls and kernels may not fit one another",
        f"install what {package.name} requires, or measure the combination knowing that",
        f"{package.name} {package.version}, METADATA",
        tuple(dict.fromkeys(name for name, _ in other)),
    )


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
