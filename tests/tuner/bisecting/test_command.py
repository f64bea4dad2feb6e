"""`attnpin bisect` on a simulated GPU: real workers, from the command line to the exit code. A comparison of six pairs is made there,
fourteen processes: nearly all of what this file takes. What bisect does with more of them is tested without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tuner.simulated.telling import TWO_ARMS, Told, told, url_in

ONE_ARM = ("backend=[flashinfer]", "engine.attention_backend=flashinfer", "engine.role=decode")
RELEASES = "--releases=0.5.3,0.6.1"


def bisected(folder: Path, *words: str, of: str = "flashinfer-python") -> Told:
    return told(folder, "bisect", of, *words, *TWO_ARMS, *ONE_ARM, f"store.url={url_in(folder)}")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return bisected(tmp_path_factory.mktemp("bisected"), "0.5.3", "0.6.1", RELEASES, "--json")


def test_the_first_bad_release_is_found_beside_the_good_one(found: Told) -> None:
    (line,) = found.out.splitlines()
    said = json.loads(line)
    assert (found.code, said["first_bad"]) == (1, {"before": "0.5.3", "first": ["0.6.1"]})
    assert [(each["release"], each["standing"]) for each in said["tried"]] == [("0.6.1", "bad")]
    assert "flashinfer-python==0.6.1 beside flashinfer-python==0.5.3" in found.err


def test_the_same_question_again_is_answered_from_the_store(found: Told) -> None:
    again = bisected(found.folder, "0.5.3", "0.6.1", RELEASES, of="FlashInfer_Python")
    assert again.code == 1 and again.out.startswith("first bad: flashinfer-python 0.6.1 (0.5.3 is good): flashinfer/p1 on decode-")
    assert again.err.count("compared just these two") == 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("0.6.1", "0.5.3", RELEASES), "0.5.3 does not come after 0.6.1"),
        (("0.5.3", "0.6.1", "--json", "--md"), "two forms of one answer"),
        (("0.5.3", "0.6.1", "--wheels=missing"), "--wheels missing is no folder where the worker runs"),
    ],
)
def test_what_cannot_be_bisected_is_a_usage_error(words: tuple[str, ...], why: str, tmp_path: Path) -> None:
    told = bisected(tmp_path, *words)
    assert (told.code, told.out) == (2, "") and why in told.err


def test_releases_come_from_a_folder_of_wheels(tmp_path: Path) -> None:
    (tmp_path / "flashinfer_python-0.6.1-py3-none-any.whl").touch()
    told = bisected(tmp_path, "0.5.3", "0.6.1", f"--wheels={tmp_path}")
    assert told.code == 2 and "there is no flashinfer-python 0.5.3 in " in told.err
