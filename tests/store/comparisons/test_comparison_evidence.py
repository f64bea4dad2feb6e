from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from store.comparisons.comparison_evidence import comparison_bytes, public_comparison, read_comparison
from store.comparisons.side_by_side import SideBySide
from store.errors import EvidenceError, NewerSchema
from store.evidence.run_evidence import evidence_bytes, packed
from tests.store.building import a_run, environment
from tests.tuner.comparing.made import compared

OLD, NEW = "flashinfer-python==0.6.14", "flashinfer-python==0.7.1"


def measured(baseline: str = "present", candidate: str = NEW, *more: str) -> SideBySide:
    made = compared(a_run(arms=2, cells=2), 2, lambda side, *_: math.log(100 + side))
    command = " ".join(["attnpin compare", f"--baseline '{baseline}'", f"--candidate='{candidate}'", *more])
    newer = replace(made.candidate, environment=environment("0.7.1"), command=command)
    return replace(made, said=(baseline, candidate), command=command, baseline=replace(made.baseline, command=command), candidate=newer)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "comparison.evidence.jsonl.zst"


def test_a_comparison_comes_back_as_the_public_one_and_the_same_gives_the_same_bytes(path: Path) -> None:
    path.write_bytes(content := comparison_bytes(measured()))
    assert read_comparison(path) == public_comparison(measured())
    assert comparison_bytes(read_comparison(path)) == content


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("path:/data/sets/flashinfer-0_6_14", OLD),
        ("path:overlays/old", OLD),
        ("/opt/old/bin/python", OLD),
        ("docker run -i --rm registry.example.org/serving:1 python3", OLD),
        ("present", "present"),
        (OLD, OLD),
        ("with:gpu.simulated.noise.process_pct=0.8", "with:gpu.simulated.noise.process_pct=0.8"),
        (
            "with:engine.command=[docker,run,reg.example.org/a:1,python3] engine.path=[ov/anna]",
            "with:engine.command=COMMAND engine.path=PATH",
        ),
    ],
)
def test_an_environment_named_by_a_place_is_named_by_what_sets_it_apart(written: str, shown: str) -> None:
    found = public_comparison(measured(baseline=written))
    assert found.said == (shown, NEW)
    assert found.command.split(" --candidate")[0] in (f"attnpin compare --baseline {shown}", f"attnpin compare --baseline '{shown}'")
    assert found.baseline.command == found.candidate.command == found.command


def test_without_a_difference_only_its_last_name_is_left_of_a_place() -> None:
    same = measured(baseline="path:/data/sets/one", candidate="path:/data/sets/one")
    same = replace(same, candidate=replace(same.candidate, environment=same.baseline.environment))
    assert public_comparison(same).said == ("path:.../one", "path:.../one")


def test_other_places_of_the_command_become_words() -> None:
    command = public_comparison(measured(OLD, NEW, "--wheels /data/wheels --out /data/out 'engine.path=[/a,/b]'")).command
    assert command.endswith("--wheels DIR --out DIR engine.path=PATH")


@pytest.mark.parametrize(
    ("content", "error", "said"),
    [
        (b"no zstandard", EvidenceError, "cut short, changed, or not"),
        (evidence_bytes(a_run()), EvidenceError, "is no attnpin comparison: its first line says 'attnpin evidence'"),
        (packed({"record": "attnpin comparison", "schema": 99}, []), NewerSchema, "has schema 99 and this attnpin reads schemas up to 1"),
        (packed({"record": "attnpin comparison", "schema": 1}, []), EvidenceError, "does not fit this attnpin"),
    ],
)
def test_what_is_no_whole_comparison_is_refused_by_name(path: Path, content: bytes, error: type[Exception], said: str) -> None:
    path.write_bytes(content)
    with pytest.raises(error, match=f"{path.name}.*{said}"):
        read_comparison(path)
