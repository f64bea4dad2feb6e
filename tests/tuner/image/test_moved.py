from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.verdicts.verdict import Change
from tests.tuner.image.writing import freeze, inspected
from tests.tuner.unmeasured.pinned import FA3_STAYS, Pinned, known, pinned
from tuner.errors import UsageError
from tuner.image.environment import environment_of
from tuner.image.moved import moved
from tuner.image.reading import listing_of

PINNED = pinned()
FLASHINFER, FA3 = "flashinfer/p1", "fa3/p1"
EVERY = (FA3, FLASHINFER, "wave/p1")


def changes(text: str, of: Pinned = PINNED) -> tuple[Change, ...]:
    listing = listing_of(text.encode(), "f")
    return moved(of.pin, of.run, listing, environment_of(listing, of.run, known().packages.distributions))


def with_(**versions: str | None) -> dict[str, Change]:
    return {change.what: change for change in changes(freeze(PINNED.with_(**versions)))}


def test_the_same_versions_are_no_change() -> None:
    assert with_() == {}


@pytest.mark.parametrize(
    ("versions", "change"),
    [
        ({"flashinfer_python": "0.7.1"}, Change("flashinfer-python", "0.6.14", "0.7.1", (FLASHINFER,))),
        ({"apache_tvm_ffi": "0.1.12"}, Change("apache-tvm-ffi", "0.1.11", "0.1.12", (FLASHINFER,))),
        ({"sglang_kernel": "0.4.9"}, Change("sglang-kernel", "0.4.5", "0.4.9", (FA3, FLASHINFER))),
        ({"triton": "3.7.0"}, Change("triton", "3.6.0", "3.7.0", EVERY)),
        ({"flashinfer_python": None}, Change("flashinfer-python", "0.6.14", None, (FLASHINFER,))),
        ({"torch": "2.11.0+cu129"}, Change("torch", "2.11.0", "2.11.0+cu129", EVERY)),
    ],
)
def test_a_distribution_that_moved_stands_with_the_arms_it_touches(versions: dict[str, str | None], change: Change) -> None:
    """The report a14: what an engine pulled in is listed as what was asked for is."""
    assert with_(**versions) == {change.what: change}


def test_what_only_a_loser_used_is_not_under_the_pin() -> None:
    assert with_(wave_lang="4.0") == {}
    assert with_(unrelated="1.0") == {}


@pytest.mark.parametrize("name", ["flashinfer_cubin", "flashinfer_jit_cache", "nvidia_cutlass_dsl"])
def test_a_companion_that_came_is_a_change_of_the_arms_it_serves(name: str) -> None:
    [change] = with_(**{name: "0.6.14"}).values()
    assert (change.before, change.after) == (None, "0.6.14") and FLASHINFER in change.touches


def test_a_renamed_distribution_is_one_that_went_and_one_that_came() -> None:
    old = pinned(sgl_kernel="0.3.21")
    found = {change.what: (change.before, change.after) for change in changes(freeze(old.with_(sglang_kernel=None, sgl_kernel="0.3.21")))}
    assert found == {"sglang-kernel": ("0.4.5", None), "sgl-kernel": (None, "0.3.21")}


def test_another_spelling_of_a_name_or_version_is_no_change() -> None:
    text = (
        freeze(PINNED.with_()).replace("flashinfer-python==0.6.14", "FlashInfer_Python==0.6.14.0").replace("torch==2.11.0", "torch==v2.11")
    )
    assert changes(text) == ()


def test_two_builds_of_one_torch_are_two_environments() -> None:
    """The report g06-3: Dao-AILab/flash-attention issue 1644."""
    old = pinned(torch="2.6.0+cu124")
    assert [change.after for change in changes(freeze(old.with_(torch="2.6.0+cu126")), old)] == ["2.6.0+cu126"]
    assert changes(freeze(old.with_(torch="2.6.0+cu124")), old) == ()


def test_a_torch_by_the_name_it_gave_itself_is_the_same() -> None:
    """PyPI's 2.11.0 is 2.11.0+cu130 to itself, and in the list of an image that took it from PyTorch's index for that CUDA."""
    assert with_(torch="2.11.0+cu130") == {}


def test_a_source_tree_of_the_same_version_is_not_the_same() -> None:
    """The report a15: sglang issue 28224, in which nothing but the engine's commit had changed."""
    at = "github.com/sgl-project/sglang at abc123"
    for line, after in (
        ("-e git+https://github.com/sgl-project/sglang@abc123#egg=sglang", f"from {at}"),
        ("# Editable install with no version control (sglang==0.5.16)\n-e /sgl-workspace/sglang/python", "0.5.16, from a folder"),
    ):
        [change] = changes(freeze(PINNED.with_(sglang=None)) + line)
        assert (change.what, change.before, change.after) == ("sglang", "0.5.16", after)


def test_an_editable_install_that_the_list_does_not_name_may_be_what_is_missing() -> None:
    [change] = changes(freeze(PINNED.with_(sglang=None)) + "-e file:///sgl-workspace/sglang/python\n")
    assert change.after == "not listed, unless it is the editable install that the list does not name"


def test_the_interpreter_is_compared_where_the_list_tells_it() -> None:
    versions = PINNED.with_()
    assert changes(inspected(versions, python="3.12.3")) == ()
    assert changes(inspected(versions, python="3.13.0")) == (Change("Python", "3.12.3", "3.13.0", ("every arm",)),)


def test_a_list_of_another_image_is_refused() -> None:
    with pytest.raises(
        UsageError, match="hold none of the distributions that the pin rests on .*flashinfer-python.*; list those of the image"
    ):
        changes("requests==2.33.0\n-e file:///sgl-workspace/sglang/python\n")


def test_a_pin_without_flags_rests_on_every_arm_that_was_ranked() -> None:
    assert {change.what for change in changes(freeze(PINNED.with_(wave_lang="4.0")), pinned(FA3_STAYS))} == {"wave-lang"}


@given(
    order=st.permutations(sorted(PINNED.with_(flashinfer_python="0.7.1").items())),
    more=st.dictionaries(st.sampled_from(["zlib", "numpy"]), st.just("1")),
)
def test_neither_order_nor_what_is_installed_beside_changes_the_answer(order: list[tuple[str, str]], more: Mapping[str, str]) -> None:
    assert [change.what for change in changes(freeze({**more, **dict(order)}))] == ["flashinfer-python"]
