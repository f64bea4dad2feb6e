"""`attnpin db` and `attnpin contribute` on files and databases."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard

from reports.exchanged import render_text
from store.database.connect import open_store
from store.evidence.run_evidence import read_evidence
from store.exchange.file import read_items
from store.exchange.items import Exchanged, Kind, Took
from store.past.history import list_runs
from store.pins.pin_files import evidence_entry, evidence_path, write_pin
from store.runs.repository import begin_run, load_run
from store.runs.run import FINISHED, FOREIGN
from tests.store.building import a_decision, a_pin, a_round, a_run, all_trials
from tests.store.empty import database
from tuner.cli import run as attnpin
from tuner.contribute import pack
from tuner.errors import UsageError
from tuner.exchange import export_to, import_from

BEGUN = a_run("r1", 2, 2)
RUN = replace(BEGUN, trials=all_trials(BEGUN), rounds=(a_round(BEGUN, 0),), status=FINISHED, decision=a_decision(BEGUN))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    begin_run(database(tmp_path / "mine.db"), RUN, fresh=True)
    return tmp_path


def exported(name: str = "runs.jsonl") -> Path:
    export_to(Path(name), "sqlite:///mine.db")
    return Path(name)


def taken(file: Path, trusted: bool = False) -> Exchanged:
    """Into a database that may be there already."""
    if not Path("theirs.db").exists():
        database(Path("theirs.db"))
    return import_from(file, "sqlite:///theirs.db", trusted)


@pytest.mark.parametrize("name", ["runs.jsonl", "runs.jsonl.zst", "runs.parquet"])
def test_what_is_exported_is_imported_whole_and_foreign(name: str, folder: Path) -> None:
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    assert taken(exported(name)).counts == ((Kind.RUN, Took.ADDED, 1),)
    assert load_run(open_store("sqlite:///theirs.db"), "r1") == replace(RUN, status=FOREIGN)
    assert taken(Path(name)).counts == ((Kind.RUN, Took.THERE, 1),)


def test_what_is_vouched_for_is_as_it_was(folder: Path) -> None:
    assert "foreign" not in render_text(taken(exported(), trusted=True))
    assert load_run(open_store("sqlite:///theirs.db"), "r1") == RUN


def test_the_commands_say_what_was_exchanged_and_that_it_is_foreign(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert attnpin(["db", "export", "runs.jsonl", "store.url=sqlite:///mine.db", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"] == [{"kind": "run", "became": None, "count": 1}]
    database(Path("theirs.db"))
    assert attnpin(["db", "import", "runs.jsonl", "store.url=sqlite:///theirs.db"]) == 0
    assert "1 run added\n  what was added is foreign" in capsys.readouterr().out


def test_two_stores_become_one_and_twice_is_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin_run(database(folder / "other.db"), replace(RUN, id="r2"), fresh=True)
    for expected in ("1 run added", "1 run already there"):
        assert attnpin(["db", "merge", "other.db", "store.url=sqlite:///mine.db", "--trust"]) == 0
        assert expected in capsys.readouterr().out
    assert [each.id for each in list_runs(open_store("sqlite:///mine.db"))] == ["r2", "r1"]
    assert [each.id for each in list_runs(open_store("sqlite:///other.db"))] == ["r2"]


def test_the_other_store_stays_as_it_is_whatever_its_age(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One of the first schema, which a store of our own is brought up from."""
    other = folder / "first.db"
    shutil.copy(Path(__file__).parents[1] / "store" / "data" / "schema_0001.sqlite", other)
    before = other.read_bytes()
    for expected in ("added", "already there"):
        assert attnpin(["db", "merge", "first.db", "store.url=sqlite:///mine.db"]) == 0
        assert expected in capsys.readouterr().out
    assert other.read_bytes() == before and [file.name for file in folder.glob("first.db*")] == ["first.db"]


def test_another_store_that_is_newer_is_named_as_it_was_given(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And not by the copy of it that is read."""
    with open_store("sqlite:///new.db").engine.begin() as connection:
        connection.exec_driver_sql("UPDATE attnpin_version SET version_num = '9999'")
    assert attnpin(["db", "merge", "new.db", "store.url=sqlite:///mine.db"]) == 2
    assert "store sqlite:///new.db has schema 9999 and this attnpin knows schemas up to" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "store sqlite:///other.db holds nothing of attnpin's"), (b"no database, " * 99, "is not a SQLite database")],
)
def test_what_is_no_store_is_not_made_one(content: bytes, message: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "other.db").write_bytes(content)
    assert attnpin(["db", "merge", "other.db", "store.url=sqlite:///mine.db"]) == 2
    assert message in capsys.readouterr().err and (folder / "other.db").read_bytes() == content


def test_the_evidence_of_a_pin_is_taken_in_too(folder: Path) -> None:
    path = folder / "pin.yaml"
    write_pin(path, replace(a_pin(RUN), evidence=evidence_entry(path, RUN)), "# why\n", RUN)
    renamed = shutil.copy(evidence_path(path), folder / "mail.jsonl.zst")
    assert taken(Path(renamed)).counts == ((Kind.RUN, Took.ADDED, 1),)
    assert [each.status for each in list_runs(open_store("sqlite:///theirs.db"))] == [FOREIGN]
    assert taken(evidence_path(path), trusted=True).counts == ((Kind.RUN, Took.VOUCHED, 1),)
    assert [each.status for each in list_runs(open_store("sqlite:///theirs.db"))] == [FINISHED]
    assert taken(evidence_path(path), trusted=True).counts == ((Kind.RUN, Took.THERE, 1),)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["db", "export", "x.jsonl", "store.url=sqlite:///none.db"], "There is no database"),
        (["db", "export", "mine.db", "store.url=sqlite:///mine.db"], "mine.db is the database of store.url"),
        (["db", "export", "runs.jsonl.gz", "store.url=sqlite:///mine.db"], "end it in one of .jsonl, .jsonl.zst, .parquet"),
        (["db", "import", "none.jsonl"], "none.jsonl cannot be read"),
        (["db", "merge", "none.db"], "There is no database"),
        (["db", "merge", "mine.db", "store.url=sqlite:///mine.db"], "is the store itself"),
        (["db", "merge", "sqlite:///./mine.db", "store.url=sqlite:///mine.db"], "is the store itself"),
        (["contribute", "--run", "r1", "--pin", "pin.yaml"], "--run and --pin each name a run"),
        (["contribute", "--run", "none", "store.url=sqlite:///mine.db"], "the store has no run 'none'"),
    ],
)
def test_a_wrong_request_leaves_with_2(arguments: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert attnpin(arguments) == 2
    assert message in capsys.readouterr().err


def test_a_plan_tells_of_foreign_runs_and_a_report_prefers_our_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = replace(RUN, id="own")
    begin_run(database(folder / "theirs.db"), own, fresh=True)
    taken(exported())
    capsys.readouterr()
    assert attnpin(["plan", "model=qwen3_8b", "gpu=h200", "store.url=sqlite:///theirs.db"]) == 0
    said = capsys.readouterr().out
    assert "measured elsewhere, which nothing here vouches for (run r1, SGLang 0.5.16): set --decode-attention-backend flashinfer" in said
    assert attnpin(["report", "store.url=sqlite:///theirs.db"]) == 0
    assert "run own" in capsys.readouterr().out


def test_what_is_contributed_tells_no_host_path_account_or_number_of_a_board(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert attnpin(["contribute", "--out", "out", "store.url=sqlite:///mine.db"]) == 0
    (file,) = Path("out").iterdir()
    assert file.name == "qwen3_8b-h200-chat-r1.evidence.jsonl.zst"
    said = capsys.readouterr().out
    text = zstandard.ZstdDecompressor().decompress(file.read_bytes(), max_output_size=1 << 24).decode()
    for word in ("anna", "gpu07", "example.net", "/opt", "/home", "GPU-5f0c"):
        assert word not in text and word not in said
    packed = read_evidence(file)
    board = packed.environment.board.uuid
    assert board is not None and board.startswith("board-") and board in said
    assert packed.decision == RUN.decision and len(packed.rounds) == len(RUN.rounds)
    assert len(list(read_items(file).items())) == 1


def test_the_same_board_has_the_same_pseudonym(tmp_path: Path) -> None:
    assert len({pack(replace(RUN, id=name), tmp_path).run.environment.board.uuid for name in ("r3", "r4")}) == 1


def test_what_would_still_tell_where_it_ran_is_not_packed(tmp_path: Path) -> None:
    named = replace(RUN, scenario=replace(RUN.scenario, model=replace(RUN.scenario.model, name="acme-internal-7b")))
    with pytest.raises(UsageError, match="run r1 is not packed: 'acme-internal-7b' would tell where it ran"):
        pack(named, tmp_path, ("acme-internal-7b",))
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_ours_or_not_measured_is_not_contributed(tmp_path: Path) -> None:
    board = replace(RUN.environment.board, name="simulated H200")
    with pytest.raises(UsageError, match="which nobody can serve on"):
        pack(replace(RUN, environment=replace(RUN.environment, board=board)), tmp_path)
    with pytest.raises(UsageError, match="run r1 is foreign: somebody else measured it"):
        pack(replace(RUN, status=FOREIGN), tmp_path)
