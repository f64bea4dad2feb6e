"""What breaks a worker off through no arm's fault costs a repetition, never an arm."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tuner.jobs import DECODE, PREFILL, Site, outcomes, raced

NewSite = Callable[..., Site]
BOTH = {DECODE: "measured", PREFILL: "measured"}


@pytest.fixture
def new_site(tmp_path_factory: pytest.TempPathFactory, lock_key: str, scripted: bytes, monkeypatch: pytest.MonkeyPatch) -> NewSite:
    def make(*names: str) -> Site:
        site = Site(tmp_path_factory.mktemp("site"), lock_key, scripted).with_backends(*names)
        monkeypatch.setenv("SCRIPTED_FOLDER", str(site.folder))
        return site

    return make


def test_a_worker_killed_from_outside_leaves_its_arm_unblamed_and_the_probe_is_repeated(new_site: NewSite) -> None:
    site = new_site("loses_its_guard_once")
    assert site.tune() == 0 and (site.folder / "lose_the_guard").exists()
    assert outcomes(site.run, "loses_its_guard_once") == BOTH and len(site.run.trials) == 4


def test_a_line_that_is_lost_again_and_again_ends_the_job_and_keeps_what_was_measured(
    new_site: NewSite, capsys: pytest.CaptureFixture[str]
) -> None:
    site = new_site("loses_its_guard")
    assert site.tune() == 4
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("attnpin: the probe of loses_its_guard/p1@kernel broke off 4 times, last with: the worker ended without a word")
    assert site.run.status == "running" and outcomes(site.run, "torch_native") == BOTH
    assert outcomes(site.run, "loses_its_guard") == {}


def test_a_round_during_which_the_device_overheats_is_void_and_run_again_with_all_its_arms(new_site: NewSite) -> None:
    site = new_site("overheats_once")
    assert site.tune() == 0 and (site.folder / "overheat").exists()
    assert outcomes(site.run, "overheats_once") == BOTH
    assert ("overheats_once", DECODE) in raced(site.run, 0) and ("overheats_once", DECODE) in raced(site.run, 1)


def test_a_device_that_stays_hot_makes_the_measurement_invalid(new_site: NewSite, capsys: pytest.CaptureFixture[str]) -> None:
    site = new_site("overheats")
    assert site.tune() == 4
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("attnpin: round 1 broke off 4 times, last with: measurement invalid: thermal slowdown by the hardware")
    assert site.run.rounds == () and outcomes(site.run, "overheats") == BOTH
