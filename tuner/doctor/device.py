"""The GPU, its driver and what NVML tells of it, against the torch that is to run there."""

from __future__ import annotations

from collections.abc import Iterator

from reports.numbers import gib
from store.serving.diagnosis import Finding, Severity
from tuner.doctor.known import Known
from tuner.doctor.patient import Patient
from tuner.doctor.versions import numbers

COMPATIBILITY = "https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html"


def findings(patient: Patient, known: Known) -> Iterator[Finding]:
    if patient.torch is None:
        return
    gpus = patient.condition.gpus
    if gpus and patient.environment.board.kind == "cpu":
        yield _torch_without_cuda(patient, gpus[0])
    elif patient.cuda and not gpus:
        yield _no_gpu(patient)
    elif patient.cuda:
        yield from _driver(patient)
        yield from _readings(patient)
        yield from _in_use(patient)
        yield from _unlike(gpus)


def _torch_without_cuda(patient: Patient, gpu: str) -> Finding:
    return Finding(
        "torch-without-cuda",
        Severity.WARNING,
        f"torch {patient.torch} cannot use the {gpu} that is here",
        "every arm would run on the processor",
        "install a CUDA build of torch, or point engine.command to the Python that serves",
    )


def _no_gpu(patient: Patient) -> Finding:
    asked = patient.condition.management
    said = f"NVML: {asked.refused}" if asked.refused else f"NVML counts {asked.gpus} in this machine"
    return Finding(
        "no-gpu",
        Severity.WARNING,
        f"torch {patient.torch} was built for CUDA {patient.cuda}, and this process may use no GPU ({said})",
        "nothing can be measured on a GPU from here",
        "check CUDA_VISIBLE_DEVICES, give the container its GPUs (--gpus all), or name a machine that has one in engine.command",
    )


def _driver(patient: Patient) -> Iterator[Finding]:
    served, wanted = patient.condition.driver_cuda, str(patient.cuda)
    if served is None or numbers(served) >= numbers(wanted):
        return
    too_old = numbers(served)[0] < numbers(wanted)[0]
    what = f"driver {patient.environment.board.driver or ''} serves CUDA {served} at most, and torch was built for CUDA {wanted}"
    if too_old:
        yield Finding(
            "driver-too-old",
            Severity.FAULT,
            what,
            "torch finds no device",
            f"install a driver for CUDA {wanted}, or a torch for CUDA {served}",
            COMPATIBILITY,
        )
    else:
        yield Finding(
            "driver-older-than-torch",
            Severity.NOTE,
            what,
            "that works within one major version, but this driver cannot compile PTX of the newer one",
            "install a newer driver when a kernel is refused for its PTX",
            COMPATIBILITY,
        )


def _readings(patient: Patient) -> Iterator[Finding]:
    asked = patient.condition.management
    untold = [name for name, allowed in asked.readings if not allowed]
    if asked.refused:
        what = f"NVML does not work here: {asked.refused}"
    elif untold:
        what = f"NVML does not tell {', '.join(untold)}"
    else:
        return
    yield Finding(
        "nvml-limited",
        Severity.NOTE,
        what,
        "a throttled GPU, or one that others use, goes unnoticed by that reading",
        "where it can be had, measure on the whole board with a driver that tells",
    )


def _in_use(patient: Patient) -> Iterator[Finding]:
    use = patient.in_use
    if not isinstance(use, dict):
        return
    busy = f", busy {use['utilization_percent']} % of the time" if use.get("utilization_percent") is not None else ""
    yield Finding(
        "gpu-in-use",
        Severity.WARNING,
        f"others hold {gib(use.get('memory_bytes') or 0)} of the GPU{busy}",
        "what is measured beside them is slower and noisier than what would be served",
        "end what runs there, or hide this GPU (CUDA_VISIBLE_DEVICES)",
    )


def _unlike(gpus: tuple[str, ...]) -> Iterator[Finding]:
    if len(set(gpus)) > 1:
        yield Finding(
            "unlike-gpus",
            Severity.NOTE,
            f"the GPUs here are not alike: {', '.join(gpus)}",
            f"arms are measured on the first, {gpus[0]}, and a pin is for that one",
            "choose with CUDA_VISIBLE_DEVICES",
        )
