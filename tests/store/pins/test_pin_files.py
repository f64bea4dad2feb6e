from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from backends.simulated.world import CAUTION, MARK
from store.errors import DiskFull, EvidenceError, NewerSchema, PinError
from store.evidence.run_evidence import public, read_evidence
from store.pins.pin import Pin
from store.pins.pin_files import evidence_entry, evidence_path, markdown_path, read_pin, verify_evidence, write_pin
from store.pins.pin_yaml import in_order, pin_of, pin_text
from tests.store.building import a_decision, a_pin, a_round, a_run, all_trials

BASE = a_run()
RUN = replace(BASE, trials=all_trials(BASE), rounds=(a_round(BASE, 0),), decision=a_decision(BASE), status="finished")
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=20)
PAIRS = st.dictionaries(TEXT, TEXT, max_size=3).map(lambda found: tuple(sorted(found.items())))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pin.yaml"


def written(path: Path) -> Pin:
    return write_pin(path, a_pin(RUN), "# why\n", RUN)


def test_a_pin_is_three_files_that_fit(path: Path) -> None:
    pin = written(path)
    assert sorted(file.name for file in path.parent.iterdir()) == ["pin.evidence.jsonl.zst", "pin.md", "pin.yaml"]
    assert read_pin(path) == pin
    assert pin.evidence == evidence_entry(path, RUN)
    assert read_evidence(verify_evidence(path, pin)) == public(RUN)
    assert markdown_path(path).read_text() == "# why\n"


def test_an_image_that_was_named_is_kept_and_one_that_was_not_takes_no_line() -> None:
    pin = a_pin(RUN)
    named = replace(pin, valid_for=replace(pin.valid_for, image="registry.example/sglang@sha256:12"))
    assert pin_of(pin_text(named, "pin.yaml", "pin"), "pin.yaml") == in_order(named)
    assert "image" not in pin_text(pin, "pin.yaml", "pin")


def test_the_file_of_a_simulated_gpu_says_so_and_names_no_command_that_would_be_refused() -> None:
    pin = a_pin(RUN)
    lines = pin_text(replace(pin, valid_for=replace(pin.valid_for, gpu=f"{MARK}NVIDIA H200")), "pin.yaml", "pin").splitlines()
    assert lines[2] == f"# {CAUTION}" and not any("attnpin check" in line for line in lines)


def test_the_file_reads_well_and_says_how_to_check_it(path: Path) -> None:
    written(path)
    lines = path.read_text().splitlines()
    assert lines[2] == "# Check it again with: attnpin check --pin pin.yaml --fast"
    keys = [line.partition(":")[0] for line in lines if line[0].isalpha()]
    assert keys == sorted(keys) and keys[0] == "because"
    assert "  decode-attention-backend: flashinfer" in lines
    assert "  page-size: '64'" in lines
    assert "      version: 0.6.14" in lines
    assert any(line.startswith("  page-size: 'decode attention 0.912") and line.endswith("nothing else changes'") for line in lines)


def test_a_pin_made_without_the_engine_has_no_version_of_it(path: Path) -> None:
    pin = a_pin(RUN)
    write_pin(path, replace(pin, valid_for=replace(pin.valid_for, engine_version=None)), "# why\n", RUN)
    assert "  engine_version: null" in path.read_text().splitlines()
    assert read_pin(path).valid_for.engine_version is None


def test_what_was_asked_stands_in_the_file_in_numbers(path: Path) -> None:
    written(path)
    lines = path.read_text().splitlines()
    where = lines.index("  requests:")
    assert lines[where + 1 : where + 3] == ["    cached_share: 0.3", "    concurrency: 64"]
    assert lines[lines.index("  settings:") + 1] == "    engine.context_length: '32768'"


def test_an_early_pin_without_those_numbers_can_be_read(path: Path) -> None:
    pin = written(path)
    plain = YAML(typ="safe").load(path)
    del plain["valid_for"]["requests"], plain["valid_for"]["settings"]
    YAML(typ="safe").dump(plain, path)
    assert read_pin(path) == replace(pin, valid_for=replace(pin.valid_for, requests=None, settings=()))


def test_no_file_says_where_it_was_made(path: Path) -> None:
    pin = written(path)
    assert pin.valid_for.variables == (("FLASHINFER_WORKSPACE_BASE", ".../cache"),)
    assert "anna" not in path.read_text() and "/home" not in path.read_text()


def test_writing_again_replaces_all_three(path: Path) -> None:
    first = written(path)
    more = replace(RUN, rounds=(*RUN.rounds, a_round(RUN, 1)))
    second = write_pin(path, a_pin(RUN), "# why now\n", more)
    assert second.evidence != first.evidence
    assert read_evidence(verify_evidence(path, read_pin(path))).rounds == public(more).rounds


@pytest.mark.parametrize(("name", "stem"), [("a.yml", "a"), ("b.prod.yaml", "b.prod"), ("plain", "plain")])
def test_the_other_two_are_named_after_the_pin(tmp_path: Path, name: str, stem: str) -> None:
    assert markdown_path(tmp_path / name).name == f"{stem}.md"
    assert evidence_path(tmp_path / name).name == f"{stem}.evidence.jsonl.zst"


@settings(deadline=None, max_examples=50)
@given(flags=PAIRS, because=PAIRS, variables=PAIRS, unset=st.none() | TEXT, watts=st.none() | st.floats(1e-300, 1e300))
def test_any_text_survives_the_yaml(
    flags: tuple[tuple[str, str], ...],
    because: tuple[tuple[str, str], ...],
    variables: tuple[tuple[str, str], ...],
    unset: str | None,
    watts: float | None,
) -> None:
    valid_for = replace(a_pin(RUN).valid_for, variables=variables, power_limit_w=watts)
    pin = in_order(replace(a_pin(RUN), flags=flags, because=because, unset=unset, valid_for=valid_for))
    assert pin_of(pin_text(pin, "pin.yaml", "pin"), "pin.yaml") == pin
    assert (pin.flags, pin.because) == (flags, because)


@pytest.mark.parametrize(
    "value", ["64", "true", "null", "1e5", "fp8_e5m2", "0x10", "~", "", "2.11", "2026-01-02T03:04:05Z", "a: b # c", "- x"]
)
def test_a_value_that_looks_like_something_else_stays_text(value: str) -> None:
    pin = in_order(replace(a_pin(RUN), flags=(("flag", value),)))
    assert pin_of(pin_text(pin, "pin.yaml", "pin"), "pin.yaml").flags == (("flag", value),)


def edited(path: Path, old: str, new: str) -> str:
    """The sentence that reading the pin ends in, with ``old`` replaced by ``new`` in it."""
    written(path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(PinError) as caught:
        read_pin(path)
    assert caught.value.exit_code == 2 and "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("engine: sglang", "engines: sglang", "Pin has no field 'engines'"),
        ("  gpu: ", "  gpus: ", "ValidFor has no field 'gpus'"),
        ("'64'", "64", "Pin.flags: expected str, got 64"),
        ("schema: 1", "schema: one", "pin.yaml is no pin of attnpin's: it has no schema number; give the path of a pin.yaml "),
        ("  sha256: ", "  sha1: ", "'evidence' must have just file and sha256"),
        ("      version: 0.6.14", "      release: 0.6.14", "'flashinfer-python' must have just version and digest"),
        ("flags:\n", "flags: 3\nold:\n", "'flags' is missing or no mapping"),
        ("engine: sglang", "engine: [sglang", "pin pin.yaml is not YAML (line "),
        ("engine: sglang", "engine: " + 5000 * "9", "pin pin.yaml is not YAML; restore it"),
        ("engine: sglang", "engine: " + 1000 * "[", "pin pin.yaml is not YAML; restore it"),
        ("engine: sglang", "engine: sglang\nengine: vllm", "duplicate key"),
    ],
)
def test_a_pin_edited_wrongly_is_refused_naming_the_place(path: Path, old: str, new: str, said: str) -> None:
    assert said in edited(path, old, new)


def test_a_newer_schema_is_refused_before_its_keys_are_read(path: Path) -> None:
    path.write_text("schema: 2\nsomething: new\n")
    with pytest.raises(NewerSchema) as caught:
        read_pin(path)
    assert str(caught.value) == "pin pin.yaml has schema 2 and this attnpin reads schemas up to 1; install a newer attnpin"
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("content", [b"", b"- a\n- b\n", b"just text"])
def test_a_file_of_another_kind_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(PinError, match="pin.yaml is no pin of attnpin's: it holds no mapping"):
        read_pin(path)


def test_a_pin_that_is_not_there_or_no_text_is_named(path: Path) -> None:
    with pytest.raises(PinError, match=r"pin.yaml cannot be read \(No such file or directory\); give the path of a pin.yaml with --pin"):
        read_pin(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PinError, match="pin.yaml is no text file"):
        read_pin(path)


def test_evidence_that_is_missing_or_changed_is_found(path: Path) -> None:
    pin = written(path)
    evidence = evidence_path(path)
    evidence.write_bytes(evidence.read_bytes() + b"x")
    with pytest.raises(EvidenceError, match="is not the one pin pin.yaml was written with .*; restore it, or run attnpin tune again"):
        verify_evidence(path, pin)
    evidence.unlink()
    with pytest.raises(EvidenceError, match=r"of pin pin.yaml cannot be read \(No such file or directory\); restore it beside the pin"):
        verify_evidence(path, pin)


def test_evidence_outside_the_pins_folder_is_not_followed(path: Path) -> None:
    pin = replace(written(path), evidence=("../elsewhere.zst", "0"))
    with pytest.raises(EvidenceError, match="it must be a file beside the pin, without a folder"):
        verify_evidence(path, pin)


def test_on_a_full_disk_the_old_pin_stays_whole(tiny_disk: Path) -> None:
    path = tiny_disk / "pin.yaml"
    first = written(path)
    with pytest.raises(DiskFull) as caught:
        write_pin(path, a_pin(RUN), "# why\n" * 100_000, replace(RUN, rounds=()))
    assert caught.value.exit_code == 4
    assert read_pin(path) == first and verify_evidence(path, first)
    assert len(list(tiny_disk.iterdir())) == 3
