"""What each JSON format tells beside names and versions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.tuner.image.writing import cyclonedx, inspected
from tuner.image.listing import Listed, Listing
from tuner.image.purl import distributions
from tuner.image.reading import listing_of

COMMIT = "1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d"
VERSIONS = {"sglang": "0.5.16", "torch": "2.11.0"}


def read(text: str) -> Listing:
    return listing_of(text.encode(), "f")


def test_pip_inspect_tells_the_interpreter() -> None:
    assert read(inspected(VERSIONS, python="3.13.1")).python == "3.13.1"
    assert read(cyclonedx(VERSIONS)).python is None


@pytest.mark.parametrize(
    ("direct_url", "origin"),
    [
        ({"url": "file:///sglang/python", "dir_info": {"editable": True}}, "a folder"),
        (
            {"url": "https://github.com/sgl-project/sglang", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
            "github.com/sgl-project/sglang at 1a2b3c4d5e6f",
        ),
        ({"url": "https://example.org/sglang-0.5.16-py3-none-any.whl", "archive_info": {}}, None),
    ],
)
def test_pip_inspect_tells_where_it_was_installed_from(direct_url: dict[str, Any], origin: str | None) -> None:
    assert read(inspected(VERSIONS, sglang=direct_url)).of("sglang") == Listed("sglang", ("0.5.16",), origin)


def test_pip_inspect_tells_what_a_distribution_requires() -> None:
    plain = json.loads(inspected(VERSIONS))
    plain["installed"][0]["metadata"]["requires_dist"] = ["torch==2.11.0"]
    found = read(json.dumps(plain)).of("sglang")
    assert found is not None and found.requires == ("torch==2.11.0",)


@pytest.mark.parametrize(
    ("purl", "version", "found"),
    [
        ("pkg:pypi/torch@2.11.0%2Bcu130", None, [Listed("torch", ("2.11.0+cu130",))]),
        ("pkg:pypi/Flash_Attn@2.8?file_name=x.whl#sub", None, [Listed("flash-attn", ("2.8",))]),
        ("pkg:pypi/torch", "2.11.0", [Listed("torch", ("2.11.0",))]),
        ("pkg:pypi/torch", None, [Listed("torch", ())]),
        (
            "pkg:pypi/sglang@0.5.16?vcs_url=git%2Bhttps://example.org/sglang.git%40abc",
            None,
            [Listed("sglang", ("0.5.16",), "example.org/sglang at abc")],
        ),
        ("pkg:deb/debian/python3-torch@2.11.0", None, []),
        ("pkg:npm/torch@1", None, []),
        (None, "1", []),
        (3, "1", []),
    ],
)
def test_a_package_url_names_a_python_distribution_or_nothing(purl: object, version: object, found: list[Listed]) -> None:
    assert list(distributions(purl, version)) == found


def test_what_a_bill_of_materials_is_about_counts_too() -> None:
    plain = json.loads(cyclonedx({"torch": "2.11.0"}))
    plain["metadata"]["component"] = {"type": "application", "name": "sglang", "purl": "pkg:pypi/sglang@0.5.16"}
    assert {each.name for each in read(json.dumps(plain)).found} == {"torch", "sglang"}


def test_two_copies_in_an_image_have_no_one_version() -> None:
    plain = json.loads(cyclonedx({"torch": "2.11.0"}))
    plain["components"].append({"name": "torch", "purl": "pkg:pypi/torch@2.13.0"})
    [torch] = read(json.dumps(plain)).found
    assert torch.version is None and set(torch.versions) == {"2.11.0", "2.13.0"}
