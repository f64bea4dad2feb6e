from __future__ import annotations

import pytest

from tuner.doctor import versions


def test_versions_are_put_in_order_as_versions_and_not_as_text() -> None:
    """The report g09: vllm issue 22297."""
    given = ["0.6.10", "0.6.9", "0.6.8.post1", "0.6.16rc2"]
    assert sorted(given, key=lambda version: versions.parsed(version)) == ["0.6.8.post1", "0.6.9", "0.6.10", "0.6.16rc2"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("0.6.14", "0.6.14+cu130", True),
        ("0.6.14+cu129", "0.6.14+cu130", True),
        ("0.6.1", "0.6.14+cu130", False),
        ("0.6.14", "0.6.14.post1", False),
        ("0.6.8", "0.6.8.0", False),
        ("unversioned", "unversioned", True),
        ("unversioned", "0.6.14", False),
    ],
)
def test_a_release_is_the_same_whatever_cuda_it_was_built_for(one: str, other: str, same: bool) -> None:
    assert versions.same_release(one, other) is versions.same_release(other, one) is same


@pytest.mark.parametrize(
    ("version", "cuda", "torch"),
    [
        ("0.6.14+cu130", "13.0", None),
        ("0.6.9+CU129", "12.9", None),
        ("2.7.4.post1+cu12torch2.6cxx11abiFALSE", "12", "2.6"),
        ("2.13.0+cpu", None, None),
        ("0.6.14", None, None),
        ("1.0+rocm6.4", None, None),
    ],
)
def test_a_local_tag_tells_what_a_build_is_for(version: str, cuda: str | None, torch: str | None) -> None:
    assert (versions.cuda_of(version), versions.torch_of(version)) == (cuda, torch)


@pytest.mark.parametrize(
    ("version", "specifier", "inside"),
    [
        ("0.6.15", "==0.6.15", True),
        ("0.6.15+cu130", "==0.6.15", True),
        ("0.6.15.post1", "==0.6.15", False),
        ("2.11.0+cu130", "==2.11.*", True),
        ("2.6.0+cu126", "==2.6.0+cu124", False),
        ("0.7.0rc1", ">=0.6", True),
        ("unversioned", "", False),
    ],
)
def test_a_version_lies_within_a_specifier(version: str, specifier: str, inside: bool) -> None:
    assert versions.within(version, specifier) is inside


@pytest.mark.parametrize(("one", "other", "same"), [("12", "12.9", True), ("13.0", "12.9", False), ("13.0", "13.0", True)])
def test_cudas_are_compared_as_far_as_both_tell(one: str, other: str, same: bool) -> None:
    assert versions.same_cuda(one, other) is same


def test_cudas_are_ordered_by_number() -> None:
    assert versions.numbers("12.10") > versions.numbers("12.9")
