"""FlashInfer comes in several distributions that must be of one release and one CUDA."""

from __future__ import annotations

from collections.abc import Iterator

from backends.condition import Installed
from store.serving.diagnosis import Finding, Severity
from tuner.doctor.known import Known
from tuner.doctor.patient import Patient
from tuner.doctor.versions import cuda_of, same_cuda, same_release, within

CORE, CUBIN, JIT_CACHE = "flashinfer-python", "flashinfer-cubin", "flashinfer-jit-cache"
CHECK_OFF = "FLASHINFER_DISABLE_VERSION_CHECK"
FROM_SOURCE = "0.0.0+unknown"  # what FlashInfer calls itself when run from its sources, which fit anything
OWN_INDEX_ONLY = ">=0.6.14"  # cubins of older releases are on PyPI
CHECKED_IN = "flashinfer/jit/env.py (0.6.14)"
INDEX = "https://flashinfer.ai/whl"


def findings(patient: Patient, known: Known) -> Iterator[Finding]:
    core = patient.installed(CORE)
    if core is None or core.version == FROM_SOURCE:
        return
    prebuilt = [each for each in patient.first_copies() if each.name == CUBIN or each.name.startswith(JIT_CACHE)]
    switched_off = patient.switch(CHECK_OFF)
    for part in prebuilt:
        if not same_release(core.version, part.version):
            yield _mismatch(core, part, patient.cuda, bool(switched_off))
        elif (built := cuda_of(part.version)) and patient.cuda and not same_cuda(built, patient.cuda):
            yield _other_cuda(part, built, patient.cuda)
    if switched_off:
        yield _check_off(switched_off)


def _mismatch(core: Installed, part: Installed, cuda: str | None, unchecked: bool) -> Finding:
    if unchecked:
        why = f"{CHECK_OFF} lets kernels of {part.version} run under {core.version}: illegal accesses, wrong answers, times of neither"
    elif part.name != CUBIN and part.version.startswith(core.version):
        why = f"FlashInfer's own check compares beginnings and does not notice: kernels of {part.version} run under {core.version}"
    else:
        why = "FlashInfer refuses to be imported, so every arm that needs it fails"
    what = f"{core.name} is {core.version} and {part.name} is {part.version}"
    return Finding("packages-do-not-match", Severity.FAULT, what, why, _remedy(core, part, cuda), CHECKED_IN, (core.name, part.name))


def _remedy(core: Installed, part: Installed, cuda: str | None) -> str:
    if part.name == CUBIN:
        index = f" --index-url {INDEX}" if within(core.version, OWN_INDEX_ONLY) else ""
    else:
        index = f" --index-url {INDEX}/cu{(cuda or 'XYZ').replace('.', '')}"
    instead = "downloads" if part.name == CUBIN else "builds"
    return (
        f"install the matching one (pip install --no-deps {part.name}=={core.version.partition('+')[0]}{index}), "
        f"or remove it (pip uninstall {part.name}), and FlashInfer {instead} what it needs on first use"
    )


def _other_cuda(part: Installed, built: str, cuda: str) -> Finding:
    return Finding(
        "prebuilt-for-another-cuda",
        Severity.WARNING,
        f"{part.name} {part.version} was built for CUDA {built}, and torch for CUDA {cuda}",
        "its kernels bring the other CUDA runtime into the process, and may need a newer driver than torch does",
        f"install the build for this CUDA (--index-url {INDEX}/cu{cuda.replace('.', '')}), or remove it (pip uninstall {part.name})",
        "https://github.com/flashinfer-ai/flashinfer/issues/2195",
        (CORE, part.name),
    )


def _check_off(value: str) -> Finding:
    return Finding(
        "version-check-disabled",
        Severity.WARNING,
        f"{CHECK_OFF}={value} is set",
        "FlashInfer then runs prebuilt kernels of any other release without a word",
        f"unset {CHECK_OFF}, and mend what the check finds",
        CHECKED_IN,
        (CORE,),
    )
