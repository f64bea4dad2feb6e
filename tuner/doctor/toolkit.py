"""What kernels would be compiled with, against what torch was compiled with."""

from __future__ import annotations

from collections.abc import Iterator

from backends.condition import Toolkit
from store.serving.diagnosis import Finding, Severity
from tuner.doctor.flashinfer_packages import CORE, JIT_CACHE
from tuner.doctor.known import Known
from tuner.doctor.patient import Patient
from tuner.doctor.versions import same_cuda, within

LOOKED_FOR = "flashinfer/jit/cpp_ext.py (0.6.14), get_cuda_path; torch/utils/cpp_extension.py (2.13), _find_cuda_home"
NEEDED = ("c++", "ninja")


def findings(patient: Patient, known: Known) -> Iterator[Finding]:
    """Nothing for a torch without CUDA, which compiles no CUDA kernels."""
    toolkit, cuda = patient.condition.toolkit, patient.cuda
    if cuda is None:
        return
    if toolkit is None or toolkit.version is None:
        yield from _without_nvcc(patient, known)
        return
    if not same_cuda(toolkit.version, cuda):
        yield _differs(toolkit, cuda)
    if not toolkit.headers:
        yield _without_headers(toolkit)
    yield from _incomplete(patient, known)
    if missing := [tool for tool in NEEDED if tool not in patient.condition.tools]:
        yield _without_tools(missing)


def _differs(toolkit: Toolkit, cuda: str) -> Finding:
    return Finding(
        "toolkit-differs-from-torch",
        Severity.WARNING,
        f"nvcc is {toolkit.version} ({toolkit.home}), and torch was built for CUDA {cuda}",
        f"kernels compiled here need the runtime of CUDA {toolkit.version}, and their cache may be shared with processes of CUDA {cuda}",
        f"point CUDA_HOME to a toolkit of CUDA {cuda}, and give every environment a FLASHINFER_WORKSPACE_BASE of its own",
        "https://github.com/flashinfer-ai/flashinfer/issues/5145",
        (CORE,),
    )


def _without_headers(toolkit: Toolkit) -> Finding:
    return Finding(
        "toolkit-without-headers",
        Severity.WARNING,
        f"nvcc runs from {toolkit.home}/bin, and {toolkit.home}/include has no cuda_runtime.h",
        "FlashInfer and torch take the folder above nvcc for the toolkit, so what they compile does not find CUDA's headers",
        "set CUDA_HOME to the folder that holds the whole toolkit",
        LOOKED_FOR,
        (CORE,),
    )


def _without_tools(missing: list[str]) -> Finding:
    return Finding(
        "build-tools-missing",
        Severity.WARNING,
        f"{' and '.join(missing)} cannot be found on PATH",
        "a kernel that no package holds prebuilt cannot be compiled, and its arm fails",
        f"install {' and '.join(missing)} where the worker runs",
        concerns=(CORE,),
    )


def _without_nvcc(patient: Patient, known: Known) -> Iterator[Finding]:
    """Only FlashInfer's arms compile with nvcc: the other libraries bring their kernels or their own compiler."""
    if patient.version(CORE) is None:
        return
    cache = patient.installed(JIT_CACHE)
    lacking = ", ".join(f"none of {gap}" for gap, _ in _gaps(patient, known)) or "perhaps not all"
    yield Finding(
        "no-nvcc",
        Severity.NOTE if cache else Severity.WARNING,
        f"no nvcc where FlashInfer looks for it, and {JIT_CACHE} {f'{cache.version} holds {lacking}' if cache else 'is not installed'}",
        "what is not prebuilt cannot be compiled on first use, and its arm fails",
        f"install the toolkit of CUDA {patient.cuda} (or set CUDA_HOME)" + ("" if cache else f", or {JIT_CACHE}"),
        LOOKED_FOR,
        (CORE,),
    )


def _incomplete(patient: Patient, known: Known) -> Iterator[Finding]:
    for gap, source in _gaps(patient, known):
        yield Finding(
            "prebuilt-incomplete",
            Severity.NOTE,
            f"{JIT_CACHE} {patient.version(JIT_CACHE)} holds no kernels of {gap}",
            "they are compiled on first use, also while a request waits",
            "warm up every head dim that the model's layers have before traffic comes",
            source,
            (CORE,),
        )


def _gaps(patient: Patient, known: Known) -> list[tuple[str, str]]:
    version = patient.version(JIT_CACHE)
    gaps = [gap for gap in known.prebuilt if gap.distribution == JIT_CACHE and version and within(version, gap.versions)]
    return [(gap.lacks, gap.source) for gap in gaps]
