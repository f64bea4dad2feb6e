"""What the installed distributions ask of one another (Requires-Dist), and is not so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from packaging.markers import UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from backends.condition import Installed
from store.serving.diagnosis import Finding, Severity
from tuner.doctor.known import Known
from tuner.doctor.patient import Patient
from tuner.doctor.versions import parsed


def findings(patient: Patient, known: Known) -> Iterator[Finding]:
    """One for every distribution that asks for another version of a kernel distribution than the one installed."""
    names = {each.name for each in known.distributions}
    for package in patient.first_copies():
        asked = [each for each in holding(package.requires, patient.environment.python) if canonicalize_name(each.name) in names]
        other = [(canonicalize_name(each.name), text) for each in asked if (text := _other_version(each, patient))]
        if other:
            yield _finding(package, other)


def holding(requires: Iterable[str], python: str) -> Iterator[Requirement]:
    """Those of Requires-Dist entries that hold without extras under that Python; what cannot be read is left to the installer."""
    surroundings = {"extra": "", "python_full_version": python, "python_version": ".".join(python.split(".")[:2])}
    for text in requires:
        try:
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate(surroundings):
                yield requirement
        except (InvalidRequirement, UndefinedEnvironmentName):
            continue


def _other_version(requirement: Requirement, patient: Patient) -> str | None:
    name = canonicalize_name(requirement.name)
    found = patient.version(name)
    return None if found is None or met_by(requirement, found) else f"{name}{requirement.specifier} ({found} is installed)"


def met_by(requirement: Requirement, version: str) -> bool:
    """True also for what is no version, of which nobody can say."""
    found = parsed(version)
    return found is None or requirement.specifier.contains(found, prereleases=True)


def _finding(package: Installed, other: Sequence[tuple[str, str]]) -> Finding:
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
