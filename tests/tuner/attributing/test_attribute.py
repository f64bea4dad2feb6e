"""Which of several changes is blamed, on upgrades whose effects are known."""

from __future__ import annotations

import pytest

from store.verdicts.attribution import Finding
from store.verdicts.bisection import Standing
from tests.tuner.attributing.played import FA3, FLASHINFER, TOO_FEW, TRITON, Upgrade
from tuner.comparing.env import env_of
from tuner.errors import UsageError

BEFORE = {"apache-tvm-ffi": "0.1.5", "flashinfer-python": "0.5.3", "sglang-kernel": "0.4.5", "torch": "2.9.0", "triton": "3.5.0"}
AFTER = {"apache-tvm-ffi": "0.1.9", "flashinfer-python": "0.6.1", "sglang-kernel": "0.4.5", "torch": "2.9.0", "triton": "3.6.0"}
SLOW = {"flashinfer-python": {FLASHINFER: 2.0}}


def blamed(upgrade: Upgrade, **more: float) -> tuple[Finding, list[str]]:
    found = upgrade.attributed(**more)
    return found.finding, [change.what for change in found.causes]


def test_each_distribution_is_moved_alone_those_that_slower_arms_import_first_and_what_touches_none_last() -> None:
    upgrade = Upgrade(BEFORE, AFTER, SLOW)
    assert blamed(upgrade) == (Finding.CAUSE, ["flashinfer-python"])
    assert upgrade.asked == [("flashinfer-python",), ("triton",), ("apache-tvm-ffi",)]


def test_two_causes_are_both_named() -> None:
    both = {"flashinfer-python": {FLASHINFER: 2.0}, "triton": {TRITON: 0.5}}
    assert blamed(Upgrade(BEFORE, AFTER, both)) == (Finding.CAUSE, ["flashinfer-python", "triton"])


def test_what_is_slower_only_together_has_no_single_cause() -> None:
    assert blamed(Upgrade(BEFORE, AFTER, together=SLOW)) == (Finding.TOGETHER, [])


def test_the_only_difference_is_the_cause_without_another_measurement() -> None:
    upgrade = Upgrade(BEFORE, {**BEFORE, "flashinfer-python": "0.6.1"}, SLOW)
    assert blamed(upgrade) == (Finding.ONLY, ["flashinfer-python"]) and upgrade.asked == []


def test_what_cannot_be_moved_alone_is_neither_blamed_nor_cleared() -> None:
    refused = UsageError("triton==3.6.0 cannot be laid over what is installed: no wheel")
    upgrade = Upgrade(BEFORE, AFTER, {"triton": {TRITON: 0.5}}, raises={"triton": refused})
    found = upgrade.attributed()
    assert (found.finding, [change.what for change in found.causes], found.exit_code) == (Finding.NARROWED, ["triton"], 1)
    assert [(each.standing, each.why) for each in found.alone if each.why] == [(Standing.SKIPPED, str(refused))]


@pytest.mark.parametrize(
    ("after", "why"),
    [
        ({"sglang-kernel": None}, "the candidate has none of it"),
        ({"sglang-kernel": "0.4.5 (rebuilt)"}, "with other contents, which no index tells apart"),
    ],
)
def test_what_no_overlay_can_be_of_says_so(after: dict[str, str | None], why: str) -> None:
    found = Upgrade(BEFORE, {**AFTER, **after}, SLOW).attributed()
    (skipped,) = (each for each in found.alone if each.standing is Standing.SKIPPED)
    assert [change.what for change in skipped.changes] == ["sglang-kernel"] and why in (skipped.why or "")


def test_settings_of_the_candidates_own_are_a_difference_too() -> None:
    found = Upgrade(BEFORE, BEFORE, together=SLOW).attributed(candidate=env_of("with:engine.version=0.5.8"))
    assert (found.finding, [change.after for change in found.causes]) == (Finding.ONLY, ["engine.version=0.5.8"])


def test_packages_of_both_sides_are_swapped_one_by_one() -> None:
    upgrade, asked = Upgrade(BEFORE, AFTER, SLOW), []
    compare = upgrade.compare
    upgrade.compare = lambda envs, overrides, enough: (asked.append(envs[1].packages), compare(envs, overrides, enough))[1]  # type: ignore[method-assign]
    upgrade.attributed(env_of("flashinfer-python==0.5.3,triton==3.5.0"), env_of("Flashinfer_Python[x]==0.6.1,triton==3.6.0"))
    assert asked[:2] == [("triton==3.5.0", "Flashinfer_Python[x]==0.6.1"), ("flashinfer-python==0.5.3", "triton==3.6.0")]


def test_folders_are_put_before_the_baselines_one_at_a_time_and_what_shares_one_moves_together() -> None:
    folders = {"/new/f": ["flashinfer-python", "apache-tvm-ffi"], "/new/t": ["triton"]}
    upgrade = Upgrade(BEFORE, AFTER, SLOW, folders=folders)
    found = upgrade.attributed(env_of("path:/old"), env_of("path:/new/f:/new/t"))
    assert upgrade.asked == [("flashinfer-python", "apache-tvm-ffi"), ("triton",)]
    assert [change.what for change in found.causes] == ["flashinfer-python", "apache-tvm-ffi"]


def test_attention_that_is_not_told_blames_nothing() -> None:
    upgrade = Upgrade(BEFORE, AFTER, {"triton": {TRITON: 0.05}}, rounds=TOO_FEW)
    found = upgrade.attributed(observed_loss=0.4)
    assert (found.finding, found.causes, found.exit_code, upgrade.asked) == (Finding.OPEN, (), 3, [])


@pytest.mark.parametrize(
    ("loss", "finding", "code"), [(0.09, Finding.NOT_ATTENTION, 0), (0.002, Finding.OPEN, 3), (None, Finding.NOTHING, 0)]
)
def test_a_loss_of_which_equivalent_times_cannot_be_most_is_not_attentions(loss: float | None, finding: Finding, code: int) -> None:
    found = Upgrade(BEFORE, AFTER).attributed(observed_loss=loss)
    assert (found.finding, found.exit_code) == (finding, code) and found.most is not None and 0 < found.most < 0.02


def test_arms_that_are_not_slower_are_no_reason_to_blame() -> None:
    """fa3 gets slower by one thing, flashinfer faster by another."""
    upgrade = Upgrade(BEFORE, {**AFTER, "sglang-kernel": "0.4.6"}, {"sglang-kernel": {FA3: 0.2}, "flashinfer-python": {FLASHINFER: -0.3}})
    assert blamed(upgrade) == (Finding.CAUSE, ["sglang-kernel"])
