from __future__ import annotations

from dataclasses import replace

import pytest

from store.verdicts.verdict import Bearing, KnownIssue
from tests.tuner.unmeasured.pinned import FA3_STAYS, Pinned, known, pinned
from tuner.doctor.known import TorchBuild
from tuner.unmeasured.issues import Knowledge, issues

PINNED = pinned()


def found(of: Pinned = PINNED, knowing: Knowledge | None = None, **versions: str | None) -> dict[str, KnownIssue]:
    return {issue.name: issue for issue in issues(of.run, of.now(of.with_(**versions)), knowing or known())}


def test_nothing_is_known_of_what_was_there_when_the_pin_was_made() -> None:
    assert found() == {}
    assert found(pinned(flashinfer_python="0.6.13")) == {}  # withdrawn then already: it was measured all the same


def test_a_release_that_was_taken_back_bears_on_the_arms_that_use_it() -> None:
    issue = found(flashinfer_python="0.6.13")["version-withdrawn"]
    assert issue.bearing is Bearing.SERVED and issue.what == "flashinfer-python 0.6.13 was taken back"
    assert found(pinned(FA3_STAYS), flashinfer_python="0.6.13")["version-withdrawn"].bearing is Bearing.RIVAL


def test_packages_that_do_not_match_are_found_before_the_image_serves() -> None:
    """The reports g01 and g02."""
    for name, version in (("flashinfer_cubin", "0.6.8.post1"), ("flashinfer_jit_cache", "0.6.9+cu130")):
        issue = found(flashinfer_python="0.6.10", **{name: version})["packages-do-not-match"]
        assert issue.bearing is Bearing.SERVED and "0.6.10" in issue.what and version in issue.what
        assert "install the matching one" in issue.ways_out[0]


def test_a_package_built_for_another_torch_does_not_load() -> None:
    """The report g05-1."""
    issue = found(torch="2.13.0")["built-for-another-torch"]
    assert issue.bearing is Bearing.SERVED and "sglang-kernel 0.4.5 was built for torch 2.11.*" in issue.what


def test_a_build_for_the_torch_of_one_cuda_is_not_held_against_a_torch_that_does_not_tell_its_own() -> None:
    builds = (TorchBuild("flashinfer-python", "==0.6.15.post1", "==2.12.0+cu124", "a report"),)
    knowing = replace(known(), packages=replace(known().packages, torch_builds=builds))
    new = {"flashinfer_python": "0.6.15.post1"}
    assert found(knowing=knowing, torch="2.12.0", **new) == {}
    assert found(knowing=knowing, torch="2.12.0+cu124", **new) == {}
    assert set(found(knowing=knowing, torch="2.12.0+cu126", **new)) == {"built-for-another-torch"}


def test_a_torch_that_did_not_move_is_still_of_the_cuda_it_named_itself_by() -> None:
    """Its distribution's version, 2.11.0, has no tag; torch called itself 2.11.0+cu130."""
    builds = (TorchBuild("flashinfer-python", "==0.6.15.post1", "==2.11.0+cu124", "a report"),)
    knowing = replace(known(), packages=replace(known().packages, torch_builds=builds))
    assert set(found(knowing=knowing, flashinfer_python="0.6.15.post1")) == {"built-for-another-torch"}


def test_what_concerns_no_arm_of_the_pin_is_left_out() -> None:
    assert found(flash_attn="2.7.4.post1", tilelang="0.1.6") == {}


@pytest.mark.parametrize(("asked", "said"), [("==0.6.14", True), (">=0.6", False)])
def test_what_an_installed_distribution_requires_is_held_against_the_rest(asked: str, said: bool) -> None:
    now = PINNED.now(PINNED.with_(flashinfer_python="0.7.1"))
    names = {issue.name: issue.bearing for issue in issues(PINNED.run, now, known(), (("sglang", (f"flashinfer-python{asked}",)),))}
    assert names == ({"requirement-not-met": Bearing.POSSIBLE} if said else {})


def test_what_is_served_stands_before_what_may_be_and_what_is_not() -> None:
    of = pinned(sglang="0.5.8", flashinfer_python="0.5.3", sglang_kernel="0.4.4")
    listed = issues(of.run, of.now(of.with_(flashinfer_python="0.6.1", sglang=None, torch="2.13.0", sglang_kernel="0.4.5")), known())
    assert [issue.bearing for issue in listed] == [Bearing.SERVED, Bearing.POSSIBLE]
