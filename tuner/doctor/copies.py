"""Second copies of a library: which one runs, and what an upgrade of the other one changes (nothing)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from backends.condition import Fa4Copy, Overwritten, Provided
from store.serving.diagnosis import Finding, Severity
from tuner.doctor.known import Known
from tuner.doctor.patient import Patient

FA4, FA4_PLACE = "flash-attn-4", "flash_attn/cute"
FA4_BUILT_WITH = "nvidia-cutlass-dsl, quack-kernels or apache-tvm-ffi"


def findings(patient: Patient, known: Known) -> Iterator[Finding]:
    for module in patient.condition.provided:
        if len(module.folders) > 1 and not module.merged:
            yield _shadowing(module, patient, known)
    yield from _twice_recorded(patient)
    yield from map(_overwritten, patient.condition.overwritten)
    for copy in patient.condition.fa4_copies:
        if (copy.distribution, copy.place) != (FA4, FA4_PLACE):
            yield _vendored_fa4(copy, patient)


def _shadowing(module: Provided, patient: Patient, known: Known) -> Finding:
    """A copy put first by engine.path is what the user asked for; any other is at least worth a look."""
    first, *hidden = (f"{folder} ({_content(module.name, folder, patient, known)})" for folder in module.folders)
    wanted = module.folders[0] in patient.condition.overlays
    return Finding(
        "second-copy",
        Severity.NOTE if wanted else Severity.WARNING,
        f"{module.name} is imported from {first}" + (", as engine.path says" if wanted else "") + f", which hides {' and '.join(hidden)}",
        "pip and the engine's version checks may look at the hidden one, and upgrading that changes nothing that runs",
        "make sure that the server's path begins the same" if wanted else "remove one of them, or put the one you mean first (engine.path)",
        "Python's path finder (PEP 420)",
        _owners(module.name, known) or (module.name,),
    )


def _owners(module: str, known: Known) -> tuple[str, ...]:
    """The distributions that bring ``module``."""
    return tuple(each.name for each in known.distributions if module in each.imports)


def _content(module: str, folder: str, patient: Patient, known: Known) -> str:
    owners = _owners(module, known)
    found = [f"{each.name} {each.version}" for each in patient.condition.installed if each.folder == folder and each.name in owners]
    return ", ".join(found) or "of no distribution's record"


def _twice_recorded(patient: Patient) -> Iterator[Finding]:
    records = Counter((each.name, each.folder) for each in patient.condition.installed)
    for name, folder in (place for place, count in records.items() if count > 1):
        versions = [each.version for each in patient.condition.installed if (each.name, each.folder) == (name, folder)]
        yield Finding(
            "two-records",
            Severity.WARNING,
            f"{folder} records {name} {len(versions)} times, as {' and '.join(versions)}",
            "an installation was broken off or copied over another: the files may be of both, and the version told is either",
            f"remove it until none is left (pip uninstall {name}), then install the one you mean",
            concerns=(name,),
        )


def _overwritten(pair: Overwritten) -> Finding:
    lies = f"what lies there is {pair.kept}'s" if pair.kept else "what lies there is neither's"
    return Finding(
        "files-overwritten",
        Severity.WARNING,
        f"{pair.first} and {pair.second} both installed {pair.files} files with other contents, such as {pair.example}: {lies}",
        "the one installed first runs code of the other, or breaks; a later upgrade of either turns it round",
        f"keep one of them, or install the one you mean once more, last (pip install --force-reinstall --no-deps {pair.second})",
        "the hashes in both distributions' RECORD",
        (pair.first, pair.second),
    )


def _vendored_fa4(copy: Fa4Copy, patient: Patient) -> Finding:
    carrier, own = f"{copy.distribution} {patient.version(copy.distribution)}", patient.version(FA4)
    beside = f"; {FA4} {own} is another copy" if own else ""
    return Finding(
        "fa4-vendored",
        Severity.NOTE,
        f"{carrier} carries its own FlashAttention 4 ({copy.place}){beside}",
        f"upgrading {FA4} changes nothing for it; upgrading {copy.distribution}, {FA4_BUILT_WITH} does",
        "look at those when fa4's times change",
        "the distribution's RECORD",
        (copy.distribution,),
    )
