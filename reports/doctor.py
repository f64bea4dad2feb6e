"""A diagnosis for a terminal or for a program. It is for whoever mends the machine, so folders are shown as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from backends.wire import to_plain
from reports import numbers, wording
from reports.json_line import json_line
from reports.page import Section, Table, one_line, text
from store.serving.diagnosis import Diagnosis, Finding, Severity

HIDDEN = "hidden by the one above"


def render_json(diagnosis: Diagnosis) -> str:
    """The record's own fields."""
    return json_line(to_plain(diagnosis))


def render_text(diagnosis: Diagnosis) -> str:
    """How it stands in a line, the machine, what is installed, then the findings, gravest first."""
    parts = (verdict(diagnosis), _machine(diagnosis), _distributions(diagnosis), *map(_finding, diagnosis.findings))
    return "\n\n".join(parts) + "\n"


def verdict(diagnosis: Diagnosis) -> str:
    counts = Counter(finding.severity for finding in diagnosis.findings)
    counted = ", ".join(wording.count(counts[each], each.value) for each in Severity if counts[each])
    if counts[Severity.FAULT]:
        return f"{counted}: mend the faults before measuring"
    if counts[Severity.WARNING]:
        return f"{counted}: what is measured here is open to doubt"
    return f"nothing to mend{f' ({counted})' if counted else ''}"


def _machine(diagnosis: Diagnosis) -> str:
    return "\n".join(["Machine", *(f"  {one_line(line)}" for line in _machine_lines(diagnosis))])


def _machine_lines(diagnosis: Diagnosis) -> Iterator[str]:
    environment, condition = diagnosis.environment, diagnosis.condition
    board, asked = environment.board, condition.management
    memory = f", {numbers.gib(board.memory_bytes)}" if board.memory_bytes else ""
    slice_ = f", MIG slice {board.mig}" if board.mig else ""
    yield f"{board.name}{slice_}{memory}"
    if board.driver or condition.driver_cuda:
        yield f"driver {board.driver or numbers.UNKNOWN}, serves CUDA up to {condition.driver_cuda or numbers.UNKNOWN}"
    cuda = f"CUDA {environment.cuda}" if environment.cuda else "without CUDA"
    yield f"Python {environment.python}, {f'torch {environment.torch} ({cuda})' if environment.torch else 'no torch'}"
    toolkit = condition.toolkit
    yield f"nvcc {toolkit.version or numbers.UNKNOWN} in {toolkit.home}" if toolkit else "no CUDA toolkit"
    yield f"NVML: {asked.refused or f'tells {_told(asked.readings)}'}"


def _told(readings: tuple[tuple[str, bool], ...]) -> str:
    told = [name for name, allowed in readings if allowed]
    return ", ".join(told) if told else "nothing of a GPU this process may use"


def _distributions(diagnosis: Diagnosis) -> str:
    seen: set[str] = set()
    rows = []
    for each in sorted(diagnosis.condition.installed, key=lambda each: each.name):
        rows.append((each.name, each.version, HIDDEN if each.name in seen else ""))
        seen.add(each.name)
    table = Table(("name", "version", ""), tuple(rows))
    return text(Section("Kernel distributions on the worker's path", (table,) if rows else ("none",)))


def in_a_sentence(finding: Finding) -> str:
    return one_line(f"{finding.what}: {finding.why}; {finding.remedy}")


def _finding(finding: Finding) -> str:
    source = [f"  source: {one_line(finding.source)}"] if finding.source else []
    return "\n".join(
        [
            f"{finding.severity.value}: {one_line(finding.what)}",
            f"  why: {one_line(finding.why)}",
            f"  do: {one_line(finding.remedy)}",
            *source,
        ]
    )
