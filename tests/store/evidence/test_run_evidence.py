from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import zstandard

from backends.wire import from_plain, to_plain
from store.errors import EvidenceError, NewerSchema, StoreError
from store.evidence.run_evidence import EVIDENCE_SCHEMA, evidence_bytes, public, read_evidence
from store.runs.run import Run
from tests.reports.test_serving_run import RUN as SERVED
from tests.store.building import a_decision, a_round, a_run, all_trials

LIMIT_BYTES = 300_000


def whole_run(arms: int = 2, cells: int = 2, rounds: int = 2, visits: int = 2) -> Run:
    run = a_run(arms=arms, cells=cells)
    measured = tuple(a_round(run, index, visits) for index in range(rounds))
    return replace(
        run, trials=all_trials(run), rounds=measured, decision=a_decision(run), wall_seconds=(("timing", 2.5),), status="finished"
    )


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in zstandard.decompress(path.read_bytes()).decode().splitlines()]


def write_lines(path: Path, lines: list[Any]) -> None:
    path.write_bytes(zstandard.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pin.evidence.jsonl.zst"


def test_evidence_comes_back_as_the_public_run(path: Path) -> None:
    path.write_bytes(evidence_bytes(whole_run()))
    assert read_evidence(path) == public(whole_run())


def test_serving_runs_come_back_without_the_places_of_what_was_started(path: Path) -> None:
    one = replace(SERVED, against=("--attention-backend", "triton", "--chat-template", "/home/alice/chat.jinja"))
    run = replace(whole_run(), serving_runs=(SERVED, one))
    path.write_bytes(evidence_bytes(run))
    found = read_evidence(path)
    assert found == public(run) and found.serving_runs[0] == SERVED
    assert found.serving_runs[1].against[-1] == ".../chat.jinja"


@pytest.mark.parametrize("count", [0, 1])
def test_evidence_of_when_it_held_one_serving_run_is_read(path: Path, count: int) -> None:
    path.write_bytes(evidence_bytes(whole_run()))
    header, *body, end = lines_of(path)
    held = {"record": "serving_run", "value": to_plain(SERVED) if count else None}
    write_lines(path, [header, *body, held, {**end, "records": end["records"] + 1}])
    assert read_evidence(path).serving_runs == (SERVED,) * count


def test_each_visit_keeps_its_median_and_the_header_says_so(path: Path) -> None:
    run = whole_run()
    path.write_bytes(evidence_bytes(run))
    found = [visit for cell in read_evidence(path).rounds[1].cells for visit in cell.visits]
    given = [visit for cell in run.rounds[1].cells for visit in cell.visits]
    for kept, visit in zip(found, given, strict=True):
        ordered = sorted(visit.sample_us)
        assert kept == replace(visit, sample_us=((ordered[3] + ordered[4]) / 2,))
    header = {"record": "attnpin evidence", "schema": 1, "tool_version": "0.1.0", "reduced": "visit medians"}
    assert lines_of(path)[0] == header


def test_the_same_run_gives_the_same_bytes(path: Path) -> None:
    first = evidence_bytes(whole_run())
    path.write_bytes(first)
    assert evidence_bytes(whole_run()) == first == evidence_bytes(read_evidence(path))


def test_five_arms_on_five_cells_in_four_rounds_of_eight_visits_stay_small(path: Path) -> None:
    run = whole_run(arms=5, cells=5, rounds=4, visits=8)
    assert sum(len(cell.visits) for measured in run.rounds for cell in measured.cells) == 5 * 5 * 4 * 8
    path.write_bytes(evidence_bytes(run))
    assert path.stat().st_size < LIMIT_BYTES / 4  # leaves room for long error texts


def test_a_line_is_one_record_and_the_last_counts_them(path: Path) -> None:
    path.write_bytes(evidence_bytes(whole_run(arms=2, cells=3, rounds=2)))
    lines = lines_of(path)
    assert lines[-1] == {"record": "end", "records": len(lines) - 2}
    assert [line["record"] for line in lines].count("rounds") == 2
    assert [line["record"] for line in lines].count("trials") == 6


def test_a_newer_schema_is_refused_with_both_versions(path: Path) -> None:
    write_lines(path, [{"record": "attnpin evidence", "schema": EVIDENCE_SCHEMA + 1}, {"record": "something", "new": 1}])
    with pytest.raises(NewerSchema) as caught:
        read_evidence(path)
    assert str(caught.value) == f"evidence {path.name} has schema 2 and this attnpin reads schemas up to 1; install a newer attnpin"


def test_a_file_cut_at_any_length_is_refused(path: Path) -> None:
    path.write_bytes(evidence_bytes(whole_run()))
    content = path.read_bytes()
    for length in (0, 1, 3, 10, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(EvidenceError, match="is cut short, changed, or not a .jsonl.zst file; restore the committed file"):
            read_evidence(path)


def test_a_changed_byte_is_found(path: Path) -> None:
    path.write_bytes(evidence_bytes(whole_run()))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(EvidenceError):
        read_evidence(path)


def test_a_missing_last_line_is_found(path: Path) -> None:
    path.write_bytes(evidence_bytes(whole_run()))
    write_lines(path, lines_of(path)[:-2])
    with pytest.raises(EvidenceError, match="is cut short"):
        read_evidence(path)


@pytest.mark.parametrize("content", [b"", b"plain text, not compressed", zstandard.compress(b"not JSON"), zstandard.compress(b"[1]\n")])
def test_a_file_of_another_kind_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(EvidenceError, match="is cut short, changed, or not"):
        read_evidence(path)


def test_json_lines_of_another_tool_are_refused(path: Path) -> None:
    write_lines(path, [{"record": "log", "schema": 1}])
    with pytest.raises(EvidenceError, match="is no attnpin evidence"):
        read_evidence(path)


def test_a_record_that_does_not_fit_is_named(path: Path) -> None:
    path.write_bytes(evidence_bytes(whole_run()))
    lines = lines_of(path)
    next(line for line in lines if line["record"] == "arms")["value"]["colour"] = "red"
    write_lines(path, lines)
    with pytest.raises(EvidenceError, match="does not fit this attnpin .*Arm has no field 'colour'"):
        read_evidence(path)


def test_a_file_that_claims_to_be_huge_is_not_unpacked(path: Path) -> None:
    path.write_bytes(zstandard.compress(b"0" * (65 << 20)))
    with pytest.raises(EvidenceError, match="claims to unpack to more than 64 MiB"):
        read_evidence(path)


def test_a_missing_file_is_named(path: Path) -> None:
    with pytest.raises(StoreError, match=r"evidence pin.evidence.jsonl.zst cannot be read \(No such file or directory\); restore the"):
        read_evidence(path)


def test_a_run_that_was_exported_when_it_had_a_field_for_one_serving_run_is_read() -> None:
    assert from_plain(Run, {**to_plain(whole_run()), "serving_run": None}) == whole_run()
