"""Every rule, over one environment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from backends.condition import Interest
from store.serving.diagnosis import Finding, Severity
from tuner.doctor import (
    copies,
    device,
    flashinfer_packages,
    kernel_caches,
    kernel_variables,
    releases,
    requirements,
    serving,
    toolkit,
    torch_builds,
)
from tuner.doctor.known import Known
from tuner.doctor.patient import Patient
from tuner.errors import OK, Incomplete, UsageError, worst

Rules = tuple[Callable[[Patient, Known], Iterator[Finding]], ...]

OF_THE_PLACE: Rules = (serving.findings, device.findings)  # whether anything can be measured there at all
OF_KERNELS: Rules = (
    flashinfer_packages.findings,
    torch_builds.findings,
    releases.findings,
    toolkit.findings,
    requirements.findings,
    copies.findings,
    kernel_caches.findings,
    kernel_variables.findings,
)
RULES = (*OF_THE_PLACE, *OF_KERNELS)

# A fault is the user's to mend before anything is measured, as is an interpreter that does not start (2). Under a warning
# everything runs, and the answer is open to doubt (3). Notes leave the environment fit.
EXIT_CODES = {Severity.FAULT: UsageError.exit_code, Severity.WARNING: Incomplete.exit_code, Severity.NOTE: OK}


def interest(known: Known, path: tuple[str, ...]) -> Interest:
    """What a worker with the folders ``path`` before its own must look for so that every rule can answer."""
    return Interest(
        distributions=tuple(each.name for each in known.distributions),
        imports=tuple(dict.fromkeys(name for each in known.distributions for name in each.imports)),
        compiled=tuple(each.name for each in known.distributions if each.torch_abi),
        variables=(flashinfer_packages.CHECK_OFF,),
        path=path,
    )


def findings(patient: Patient, known: Known, rules: Rules = RULES) -> tuple[Finding, ...]:
    """Gravest first."""
    found = (finding for rule in rules for finding in rule(patient, known))
    return tuple(sorted(found, key=lambda finding: list(Severity).index(finding.severity)))


def spoilers(patient: Patient, known: Known) -> tuple[Finding, ...]:
    """Those that put a measurement in doubt which the place allows."""
    return tuple(finding for finding in findings(patient, known, OF_KERNELS) if finding.severity is not Severity.NOTE)


def exit_code(found: Iterable[Finding]) -> int:
    return worst(EXIT_CODES[finding.severity] for finding in found)
