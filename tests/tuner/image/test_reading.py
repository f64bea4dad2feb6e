"""Every format of a list of packages, and everything that is none."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.utils import canonicalize_name

from tests.tuner.image.writing import FORMS, freeze
from tuner.errors import UsageError
from tuner.image import reading
from tuner.image.listing import Listing
from tuner.image.reading import READ, listing_of, read_listing

NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9]{0,5}([-_.][A-Za-z0-9]{1,5})?", fullmatch=True)
VERSIONS = st.from_regex(
    r"[0-9]{1,2}(\.[0-9]{1,2}){0,3}(rc[0-9]|\.post[0-9])?(\.dev[0-9])?(\+[a-z][a-z0-9]{0,4}(\.[a-z0-9]{1,3})?)?", fullmatch=True
)
INSTALLED = st.dictionaries(NAMES, VERSIONS, min_size=1, max_size=6).filter(
    lambda found: len(set(map(canonicalize_name, found))) == len(found)
)
PLAIN: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["installed", "metadata", "name", "version", "components", "purl", "direct_url", "url"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=20)
@given(installed=INSTALLED)
def test_every_format_says_the_same(form: str, installed: dict[str, str]) -> None:
    found = listing_of(FORMS[form](installed).encode(), "a file")
    assert form.startswith(found.form)
    assert {each.name: each.versions for each in found.found} == {
        canonicalize_name(name): (version,) for name, version in installed.items()
    }
    assert all(each.origin is None for each in found.found)


def refusal(content: bytes) -> str:
    with pytest.raises(UsageError) as error:
        listing_of(content, "packages.txt")
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("hello world\n", "line 1, 'hello world', names no installed version"),
        ("torch==2.11.0\ntriton>=3.6\n", "line 2, 'triton>=3.6', names no installed version"),
        ("torch==2.11.0\n-r other.txt\n", "line 2, '-r other.txt', names no installed version"),
        ("Package Version\n------- -------\ntorch   2.11.0\n", "line 1, 'Package Version', names no installed version"),
        ('<?xml version="1.0"?>\n<bom/>\n', "names no installed version"),
        ("SPDXVersion: SPDX-2.3\n", "line 1, 'SPDXVersion: SPDX-2.3', names no installed version"),
        ('{"name": "torch"', "line 1 is not JSON (Expecting ',' delimiter)"),
        ('{"name": "torch"}', "its keys are name"),
        ("{}", "its keys are none"),
        ('[{"name": "torch", "version": "2.11.0"}]', "it holds a list"),
        ("[" * 100_000, "its brackets are too deep"),
        (
            '{"pip_version": "25", "installed": [{"metadata": {"name": "torch"}}]}',
            "an entry of it is not as that format has it ('version')",
        ),
        (
            '{"pip_version": "25", "installed": [{"metadata": {"name": "torch", "version": 2}}]}',
            "an entry of it is not as that format has it",
        ),
        ('{"bomFormat": "CycloneDX", "components": {"a": 1}}', "an entry of it is not as that format has it"),
    ],
)
def test_what_is_none_of_them_is_refused_in_one_sentence(text: str, why: str) -> None:
    said = refusal(text.encode())
    assert said.startswith(f"--packages packages.txt is not {READ}: ") and why in said and "\n" not in said


def test_what_is_no_text_is_refused() -> None:
    assert refusal("torch==2.11.0".encode("utf-16")).endswith("it is no UTF-8 text")


@pytest.mark.parametrize("text", ["", "# nothing\n\n", '{"bomFormat": "CycloneDX"}', '{"spdxVersion": "SPDX-2.3", "packages": []}'])
def test_a_list_of_nothing_is_refused(text: str) -> None:
    assert refusal(text.encode()).endswith("without a Python distribution in it; list what is installed in the image")


@given(st.text(max_size=60) | PLAIN.map(json.dumps) | PLAIN.map(lambda plain: json.dumps({"bomFormat": "CycloneDX", "components": plain})))
def test_whatever_a_file_holds_is_a_list_or_refused_in_one_sentence(text: str) -> None:
    try:
        assert listing_of(text.encode(errors="surrogatepass"), "f").found
    except UsageError as error:
        assert "\n" not in str(error)


@given(PLAIN)
def test_whatever_stands_where_pip_lists_is_a_list_or_refused(plain: Any) -> None:
    try:
        found = listing_of(json.dumps({"pip_version": "25", "installed": plain}).encode(), "f").found
    except UsageError:
        return
    assert all(isinstance(each.name, str) and all(isinstance(version, str) for version in each.versions) for each in found)


def test_a_list_comes_from_a_file_or_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = freeze({"torch": "2.11.0"}).encode()
    (tmp_path / "packages.txt").write_bytes(b"\xef\xbb\xbf" + text)  # as some editors begin a file
    monkeypatch.setattr(reading.sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))
    listings: list[Listing] = [read_listing(str(tmp_path / "packages.txt")), read_listing("-")]
    assert [[(each.name, each.version) for each in listing.found] for listing in listings] == [[("torch", "2.11.0")]] * 2


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(
        UsageError, match=r"--packages /nowhere/packages.txt cannot be read \(No such file or directory\); give the text of"
    ):
        read_listing("/nowhere/packages.txt")
