"""From what a user asks and an index has to a row of releases."""

from __future__ import annotations

import pytest

from tuner.bisecting.releases import Asked, in_files, line_of
from tuner.comparing.env import Env
from tuner.errors import UsageError

OFFERED = ("0.6.14", "0.6.4", "0.6.10", "0.6.1.post1", "0.6.1", "0.6.0", "0.6.0rc1", "0.5.3", "0.4.0", "nightly")
ASKED = Asked("flashinfer-python", "0.5.3", "0.6.4", "0.6.14")


def test_releases_stand_in_the_order_of_versions_from_good_to_good_again_without_pre_releases() -> None:
    line = line_of(ASKED, OFFERED)
    assert line.to_bad == ("0.5.3", "0.6.0", "0.6.1", "0.6.1.post1", "0.6.4")
    assert line.from_bad == ("0.6.4", "0.6.10", "0.6.14")


@pytest.mark.parametrize("asked", [Asked("f", "0.5.3", "0.6.1", pre=True), Asked("f", "0.5.3", "0.6.0rc1")])
def test_pre_releases_come_in_where_they_are_asked_for_or_named(asked: Asked) -> None:
    assert "0.6.0rc1" in line_of(asked, OFFERED).releases


def test_releases_that_are_named_need_no_index_and_those_in_folders_no_installer() -> None:
    line = line_of(Asked("f", "0.5.3", "0.6.4", releases=("0.6.1=/sets/a:/sets/b", "0.6.3rc2", "0.7.0")), ())
    assert line.releases == ("0.5.3", "0.6.1", "0.6.3rc2", "0.6.4")
    assert line.env("0.6.1") == Env("path:/sets/a:/sets/b", folders=("/sets/a", "/sets/b"))
    assert line.env("0.6.4") == Env("f==0.6.4", packages=("f==0.6.4",))


def test_a_folder_of_wheels_says_its_versions() -> None:
    names = ["Flashinfer_Python-0.6.1-py3-none-any.whl", "flashinfer-python-0.6.0.tar.gz", "flashinfer_python-0.6.1-1-py3-none-any.whl"]
    others = ["flashinfer_cubin-0.6.1-py3-none-any.whl", "README", "flashinfer_python-0.6.4.whl"]
    assert in_files([*names, *others], "flashinfer-python") == ("0.6.1", "0.6.0")


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (Asked("f", "0.6.4", "0.5.3"), "0.5.3 does not come after 0.6.4"),
        (Asked("f", "0.6.4", "0.6.4.0"), "0.6.4.0 does not come after 0.6.4"),
        (Asked("f", "0.5.3", "0.6.4", "0.6.1"), "0.6.1 does not come after 0.6.4"),
        (Asked("f", "good", "0.6.4"), "'good' is no version"),
        (Asked("f", "0.5.3", "0.6.41"), "there is no f 0.6.41 in the index; the nearest to it: 0.6.14"),
        (Asked("f", "0.5.4", "0.6.4"), "there is no f 0.5.4 in the index; the nearest to it: 0.5.3 and 0.6.0"),
        (Asked("f", "0.5.3", "0.6.41", wheels="here"), "there is no f 0.6.41 in here"),
        (Asked("f", "0.5.3", "0.6.4", releases=("0.6.1=",)), "--releases 0.6.1= names no release"),
        (Asked("f", "0.5.3", "0.6.4", releases=("latest",)), "--releases latest names no release"),
    ],
)
def test_what_cannot_be_put_in_a_row_is_refused(asked: Asked, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        line_of(asked, OFFERED)


def test_an_index_that_has_nothing_is_said() -> None:
    with pytest.raises(UsageError, match="there is no release of it at all"):
        line_of(ASKED, ())
