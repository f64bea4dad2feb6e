"""A run in one small file beside its pin: enough to report, re-decide and check without the database.

One JSON record a line, compressed with Zstandard: a header, the fields of `Run` (one line each; one line an item where
a field is a list), and a last line that counts them. Samples are reduced to the median of each visit, which is all that
deciding uses; paths, hosts and accounts are taken out.
"""

from __future__ import annotations

import hashlib
import json
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import zstandard

from backends.measured import CellRound, Round, Visit
from backends.wire import from_plain, to_plain
from store.digest import canonical
from store.errors import EvidenceError, NewerSchema
from store.evidence.scrub import private_names, scrubbed
from store.revisit import Revisit
from store.runs.run import Run

EVIDENCE_SCHEMA = 1
HEADER, END = "attnpin evidence", "end"
LISTS = ("arms", "cells", "exclusions", "trials", "rounds", "serving_runs")
ONE_OF = {"serving_run": "serving_runs"}  # what older files hold one of, or none
REDUCED = "visit medians"
LEVEL = 19
MAX_BYTES = 64 * 2**20  # a file that claims to unpack to more is not one of ours

Record = dict[str, Any]
T = TypeVar("T")


def read_evidence(path: Path) -> Run:
    """The run as `public` left it. Raises `EvidenceError`, or `NewerSchema`."""
    return fitting(path.name, Run, run_plain(read_records(path, HEADER, EVIDENCE_SCHEMA)))


def evidence_bytes(run: Run) -> bytes:
    """The same bytes for the same run."""
    header = {"record": HEADER, "schema": EVIDENCE_SCHEMA, "tool_version": run.tool_version, "reduced": REDUCED}
    return packed(header, run_records(public(run)))


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def public(run: Run) -> Run:
    """What of a run may be committed: see the module's first lines."""
    return reduced(scrubbed(run, private_names(run.scenario.engine)))


def reduced(run: Run) -> Run:
    """Each visit with one sample, its median."""
    rounds, revisits = tuple(map(_reduced_round, run.rounds)), tuple(map(_reduced_revisit, run.revisits))
    return replace(run, rounds=rounds, revisits=revisits)


def _reduced_revisit(revisit: Revisit) -> Revisit:
    return replace(revisit, under=tuple((condition, _reduced_cell(cell)) for condition, cell in revisit.under))


def _reduced_round(measured: Round) -> Round:
    return replace(measured, cells=tuple(_reduced_cell(cell) for cell in measured.cells))


def _reduced_cell(cell: CellRound) -> CellRound:
    return replace(cell, visits=tuple(_reduced_visit(visit) for visit in cell.visits))


def _reduced_visit(visit: Visit) -> Visit:
    return replace(visit, sample_us=(statistics.median(visit.sample_us),), row_us=())


def packed(header: Record, body: Iterable[Record]) -> bytes:
    """One record a line, compressed; the same bytes for the same records."""
    records = list(body)
    lines = "".join(canonical(record) + "\n" for record in (header, *records, {"record": END, "records": len(records)}))
    return zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(lines.encode())


def run_records(run: Run) -> Iterator[Record]:
    yield from ({"record": name, "value": value} for name, value in _values(to_plain(run)))


def _values(plain: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in plain.items():
        if name in LISTS:
            yield from ((name, item) for item in value)
        else:
            yield name, value


def read_records(path: Path, kind: str, schema: int) -> list[Record]:
    """Those between the header, which must be of ``kind`` and at most of ``schema``, and the last line. Raises as `read_evidence`."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise EvidenceError(f"evidence {path.name} cannot be read ({error.strerror}); restore the committed file") from None
    header, *body = _records(path.name, content)
    _check_header(path.name, header, kind, schema)
    if not body or body[-1] != {"record": END, "records": len(body) - 1}:
        raise EvidenceError(f"evidence {path.name} is cut short; restore the committed file")
    return body[:-1]


def _records(name: str, content: bytes) -> Iterator[Record]:
    try:
        if zstandard.frame_content_size(content) > MAX_BYTES:
            raise EvidenceError(f"evidence {name} claims to unpack to more than {MAX_BYTES >> 20} MiB; it is not attnpin's")
        text = zstandard.ZstdDecompressor().decompress(content, max_output_size=MAX_BYTES).decode()
        yield from map(_record, text.removesuffix("\n").split("\n"))
    except (zstandard.ZstdError, ValueError):
        raise EvidenceError(f"evidence {name} is cut short, changed, or not a .jsonl.zst file; restore the committed file") from None


def _record(line: str) -> Record:
    record = json.loads(line)
    if not isinstance(record, dict) or "record" not in record:
        raise ValueError(f"no record: {line:.40}")
    return record


def run_plain(records: Iterable[Record]) -> dict[str, Any]:
    """A run as `backends.wire` writes it, of its `run_records`."""
    plain: dict[str, Any] = {field: [] for field in LISTS}
    for record in records:
        name, value = record["record"], record.get("value")
        if name in LISTS:
            plain[name].append(value)
        elif name not in ONE_OF:
            plain[name] = value
        elif value is not None:
            plain[ONE_OF[name]].append(value)
    return plain


def fitting(name: str, cls: type[T], plain: dict[str, Any]) -> T:
    """``plain`` as a ``cls``. Raises `EvidenceError`; ``name`` is the file's."""
    try:
        return from_plain(cls, plain)
    except ValueError as error:
        raise EvidenceError(f"evidence {name} does not fit this attnpin ({error}); install the version that wrote it") from None


def _check_header(name: str, header: Record, kind: str, known: int) -> None:
    schema = header.get("schema")
    if header.get("record") != kind or not isinstance(schema, int):
        said = f"its first line says {header['record']!r:.60}"
        raise EvidenceError(f"{name} is no {kind}: {said}; give the file that is one, or restore the committed one")
    if schema > known:
        raise NewerSchema(f"evidence {name} has schema {schema} and this attnpin reads schemas up to {known}; install a newer attnpin")
