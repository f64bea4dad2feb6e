"""`attnpin export --merge`: what becomes of the file, of its mode and its links, and when it is left alone."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from store.pins.pin_files import write_pin
from tests.reports import building
from tests.tuner.verifying.pinned import written
from tuner.cli import run

MINE = "# ours since May\nmodel-path: 'M'   # quoted\ntp-size: 1\n"
KEY = "decode-attention-backend"
MEASURED = building.run(replace(building.decision(), flags=((KEY, "flashinfer"),)))
MARK = f"# attnpin 7f3a9c set flashinfer: {building.BECAUSE}\n"


@pytest.fixture
def pin(tmp_path: Path) -> str:
    path = tmp_path / "pin.yaml"
    write_pin(path, replace(building.pin(), flags=((KEY, "flashinfer"),)), "# why\n", MEASURED)
    return str(path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "server.yaml"
    path.write_text(MINE)
    return path


def merged(pin: str, file: Path, *options: str, to: str = "sglang-yaml") -> int:
    return run(["export", "--pin", pin, "--to", to, "--merge", str(file), *options])


def stamp(file: Path) -> tuple[int, int, bytes]:
    found = file.stat()
    return found.st_ino, found.st_mtime_ns, file.read_bytes()


def test_the_file_gets_the_keys_and_the_output_is_the_change(pin: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert merged(pin, file) == 0
    assert file.read_text() == f"{MINE}{MARK}{KEY}: flashinfer\n"
    said = capsys.readouterr()
    assert said.out.startswith("--- a/server.yaml\n+++ b/server.yaml\n") and f"\n+{KEY}: flashinfer\n" in said.out
    assert "--config" not in said.err


def test_a_second_time_nothing_is_written(pin: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert merged(pin, file) == 0
    before = stamp(file)
    capsys.readouterr()
    assert merged(pin, file) == 0
    said = capsys.readouterr()
    assert (stamp(file), said.out) == (before, "") and "has it already; nothing was written" in said.err


def test_mode_and_link_stay(pin: str, file: Path, tmp_path: Path) -> None:
    file.chmod(0o640)
    link = tmp_path / "link.yaml"
    link.symlink_to(file.name)
    assert merged(pin, link) == 0
    assert link.is_symlink() and KEY in file.read_text() and file.stat().st_mode & 0o777 == 0o640


def test_a_byte_order_mark_stays_before_the_first_line(pin: str, file: Path) -> None:
    file.write_text(f"\ufeff{KEY}: fa3\n")
    assert merged(pin, file, "--replace") == 0
    assert file.read_text() == f"\ufeff{MARK}{KEY}: flashinfer\n"


def test_the_change_is_a_patch_whatever_else_a_line_holds(pin: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Python takes more than a line feed for the end of a line, patch does not."""
    file.write_text("model-path: M\u2028\ntp-size: 1\n")
    assert merged(pin, file) == 0
    assert capsys.readouterr().out == (
        f"--- a/server.yaml\n+++ b/server.yaml\n@@ -1,2 +1,4 @@\n model-path: M\u2028\n tp-size: 1\n+{MARK}+{KEY}: flashinfer\n"
    )


def test_a_recipe_with_a_schema_of_its_own_is_no_pin(pin: str, file: Path) -> None:
    file.write_text("schema: 2\nroles:\n  agg:\n    args:\n      tp-size: 1\n")
    assert merged(pin, file, to="slurm") == 0
    assert f"      {KEY}: flashinfer\n" in file.read_text()


def test_a_variable_that_is_not_merged_is_named(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A form of its own may hold it; the words of a command do not."""
    whole = replace(building.pin(), flags=((KEY, "flashinfer"),), variables=(("SGLANG_X", "1"),))
    write_pin(tmp_path / "pin.yaml", whole, "# why\n", MEASURED)
    file.write_text("services:\n  s:\n    command:\n      - sglang\n      - serve\n")
    assert merged(str(tmp_path / "pin.yaml"), file, to="compose") == 0
    assert capsys.readouterr().err.count("the server's environment has to hold SGLANG_X=1") == 1


def test_a_conflict_is_a_wrong_request_and_leaves_the_file(pin: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(f"{MINE}{KEY}: fa3  # by hand\n")
    before = stamp(file)
    assert merged(pin, file) == 2
    said = capsys.readouterr()
    assert (
        stamp(file) == before and said.out == "" and f"{KEY} is fa3 there and flashinfer in the pin; --replace takes the pin's" in said.err
    )
    assert merged(pin, file, "--replace") == 0
    assert file.read_text() == f"{MINE}{MARK}{KEY}: flashinfer  # by hand\n"
    assert f"{KEY} was fa3 and is flashinfer" in capsys.readouterr().err


def test_a_pin_that_sets_nothing_takes_out_what_attnpin_wrote(
    pin: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert merged(pin, file) == 0
    unset = tmp_path / "unset.yaml"
    write_pin(unset, building.pin(building.kept()), "# why\n", building.run(building.kept()))
    capsys.readouterr()
    assert merged(str(unset), file) == 0
    assert file.read_text() == MINE
    said = capsys.readouterr().err
    assert f"took out {KEY}: flashinfer, which attnpin had set and the pin does not" in said and "unset, because" in said


def test_a_backend_of_the_users_contradicts_a_pin_that_sets_none(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unset, before = tmp_path / "unset.yaml", "model-path: m\nattention-backend: triton\n"
    write_pin(unset, building.pin(building.kept()), "# why\n", building.run(building.kept()))
    file.write_text(before)
    assert merged(str(unset), file) == 2 and file.read_text() == before
    assert "sets attention-backend: triton, which attnpin did not write, and the pin sets no backend" in capsys.readouterr().err


def test_a_flag_that_is_nobodys_is_named(pin: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("kv-cache-dtype: fp8_e4m3\n")
    assert merged(pin, file) == 0
    assert "kv-cache-dtype: fp8_e4m3 in" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--to", "json", "--merge", "server.yaml"],
            "--merge edits YAML, which launcher json does not write; those that do: .*sglang-yaml",
        ),
        (["--to", "sglang-yaml", "--replace"], "--replace belongs to --merge FILE"),
        (["--to", "sglang-yaml", "--at", "x"], "--at belongs to --merge FILE"),
        (["--to", "sglang-yaml", "--merge", "server.yaml", "--as-hint"], "--as-hint is commented out and --merge sets keys"),
        (["--to", "sglang-yaml", "--merge", "none.yaml"], "--merge none.yaml: there is no such file"),
        (["--to", "sglang-yaml", "--merge", "."], r"\. is a folder; choose another path"),
        (["--to", "sglang-yaml", "--merge", "pin.yaml"], "--merge pin.yaml: that is a pin, which attnpin tune writes"),
        (["--to", "sglang-yaml", "--merge", "latin.yaml"], "--merge latin.yaml: it is no UTF-8 text"),
        (["--to", "sglang-yaml", "--merge", "server.yaml", "--at", "x.y"], "server.yaml has no place x.y for flags"),
    ],
)
def test_a_wrong_request_is_said(
    options: list[str], message: str, pin: str, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(file.parent)
    Path("latin.yaml").write_bytes(b"a: \xe4\n")
    assert run(["export", "--pin", pin, *options]) == 2
    assert file.read_text() == MINE
    said = capsys.readouterr()
    assert said.out == ""
    assert re.search(message, said.err), said.err


def test_a_pin_of_a_simulated_gpu_is_merged_nowhere(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, gpu="simulated H200")
    assert merged(str(path), file) == 2
    assert file.read_text() == MINE and "which is no GPU that anything could serve on" in capsys.readouterr().err
