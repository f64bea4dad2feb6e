"""Compiled packages that cannot be loaded beside this torch: built for another one, not for another GPU."""

from __future__ import annotations

from collections.abc import Iterator

from backends.condition import Installed, Linked
from store.serving.diagnosis import Finding, Severity
from tuner.doctor.known import Known
from tuner.doctor.patient import Patient
from tuner.doctor.versions import torch_of, within

RULE = "built-for-another-torch"
WHY = "the package does not load (ABI), and every arm that needs it fails as if it were not installed"
READ_FROM_FILES = "the dynamic symbols of its files and of torch's libraries"


def findings(patient: Patient, known: Known) -> Iterator[Finding]:
    """What the files say goes before what is recorded of the release: a file whose symbols are all there does load."""
    torch, linked = patient.torch, {each.distribution: each for each in patient.condition.linked}
    for package in patient.first_copies() if torch else ():
        recorded = built_for(package, known)
        if package.name in linked:
            if linked[package.name].file is not None:
                yield _unloadable(package, linked[package.name], recorded, str(torch))
        elif recorded and not within(str(torch), recorded[0]):
            yield _recorded(package, *recorded, str(torch))


def built_for(package: Installed, known: Known) -> tuple[str, str] | None:
    """The torch (a specifier) that a release was built for, and who says so."""
    if tag := torch_of(package.version):
        return f"=={tag}.*", f"the version's own tag, {package.version}"
    builds = (each for each in known.torch_builds if each.distribution == package.name and within(package.version, each.versions))
    return next(((each.torch, each.source) for each in builds), None)


def _unloadable(package: Installed, linked: Linked, recorded: tuple[str, str] | None, torch: str) -> Finding:
    missing = linked.missing[0] + (" and others" if len(linked.missing) > 1 else "")
    what = f"{package.name} {package.version} was built for another torch than {torch}: {linked.file} asks for {missing}"
    return Finding(RULE, Severity.FAULT, what, WHY, _remedy(package, torch, recorded and recorded[0]), READ_FROM_FILES, (package.name,))


def _recorded(package: Installed, wanted: str, source: str, torch: str) -> Finding:
    what = f"{package.name} {package.version} was built for torch {wanted.removeprefix('==')}, and torch {torch} is installed"
    return Finding(RULE, Severity.FAULT, what, WHY, _remedy(package, torch, wanted), source, (package.name,))


def _remedy(package: Installed, torch: str, wanted: str | None) -> str:
    other = f" ({wanted.removeprefix('==')})" if wanted else ""
    return f"install a {package.name} built for torch {torch}, build it from source, or install the torch it was built for{other}"
