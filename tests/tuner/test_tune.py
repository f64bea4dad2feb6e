from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from pathlib import Path

import pytest

from store.database.connect import open_store
from store.evidence.run_evidence import read_evidence
from store.pins.pin_files import verify_evidence
from store.runs.repository import newest_run
from store.runs.run import Run
from tests.tuner.jobs import DECODE, PREFILL, Site, default_driver, details, outcomes, raced
from tuner import cli


@dataclass(frozen=True)
class Told:
    """A job that has ended: its exit code, what it printed, and the run as it stands in the store."""

    site: Site
    code: int
    out: str
    err: str
    run: Run


def tell(site: Site, *more: str) -> Told:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = site.tune(*more)
    return Told(site, code, out.getvalue(), err.getvalue(), site.run)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, lock_key: str, hasty: bytes) -> Told:
    """Real kernels, the default's some milliseconds slower than they need be; of its rivals one answers wrongly, and one dies in
    rounds."""
    site = Site(tmp_path_factory.mktemp("site"), lock_key, hasty)
    site = site.with_backends("wrong", driver="rogues:Wrong").with_backends("dies_in_warm_up", driver="rogues:DiesInWarmUp")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")  # two threads stall each other on a busy machine
        return tell(site, default_driver("rogues:Slow"))


def test_a_whole_job_ends_with_a_finished_run_and_the_pins_three_files(told: Told) -> None:
    assert (told.code, told.run.status) == (0, "finished")
    assert sorted(path.name for path in told.site.pin_path.parent.iterdir()) == ["pin.evidence.jsonl.zst", "pin.md", "pin.yaml"]
    assert outcomes(told.run, "torch_native") == {DECODE: "measured", PREFILL: "measured"}
    assert [measured.index for measured in told.run.rounds] == [0, 1]
    assert all(sample > 0 for measured in told.run.rounds for cell in measured.cells for visit in cell.visits for sample in visit.sample_us)


def test_the_summary_says_flags_or_why_not_and_where_things_lie(told: Told) -> None:
    flags, unset = told.site.pin.flags, told.site.pin.unset
    assert bool(flags) != bool(unset)
    assert all(f"--{flag} {value}" in told.out for flag, value in flags) and (unset or "") in told.out
    for place in (str(told.site.pin_path), told.site.url, f"attnpin report --run {told.run.id}"):
        assert place in told.out


def test_arms_that_fail_are_stored_outcomes_and_the_rest_goes_on(told: Told) -> None:
    assert outcomes(told.run, "wrong") == {DECODE: "incorrect", PREFILL: "incorrect"}
    assert "relative error" in details(told.run, "wrong")
    assert "wrong/p1@kernel: incorrect on every cell" in told.err


def test_an_arm_that_takes_a_round_down_while_it_is_warmed_up_is_the_one_blamed(told: Told) -> None:
    assert outcomes(told.run, "dies_in_warm_up") == {DECODE: "crashed", PREFILL: "measured"}
    assert "SIGSEGV" in details(told.run, "dies_in_warm_up") and "(in round 1, after a good probe)" in details(told.run, "dies_in_warm_up")
    for index in range(2):
        racing = raced(told.run, index)
        assert racing >= {("torch_native", DECODE), ("torch_native", PREFILL)} and ("dies_in_warm_up", DECODE) not in racing


def test_the_wall_time_is_stored_by_phase(told: Told) -> None:
    spent = dict(told.run.wall_seconds)
    assert {"import", "build", "capture", "check", "warmup", "timing", "waiting"} <= set(spent)
    assert sum(spent.values()) > 1.0 and all(seconds >= 0 for seconds in spent.values())


def test_the_evidence_holds_the_run_as_it_was_decided(told: Told) -> None:
    evidence = read_evidence(verify_evidence(told.site.pin_path, told.site.pin))
    assert (evidence.id, evidence.status, evidence.decision) == (told.run.id, "finished", told.run.decision)


@pytest.fixture
def site(tmp_path: Path, lock_key: str, scripted: bytes) -> Site:
    return Site(tmp_path, lock_key, scripted)


@pytest.fixture(scope="module")
def pinned(tmp_path_factory: pytest.TempPathFactory, lock_key: str, scripted: bytes) -> Told:
    """Two arms whose times are made up, and the pin that came of them."""
    return tell(Site(tmp_path_factory.mktemp("pinned"), lock_key, scripted).with_backends("works"))


def test_running_it_again_measures_anew_and_replaces_the_pin(pinned: Told) -> None:
    again = tell(pinned.site)
    assert (pinned.code, again.code) == (0, 0)
    assert pinned.run.id != again.run.id and pinned.run.digest == again.run.digest
    assert len(again.run.trials) == 4 and len(again.run.rounds) == 2
    assert pinned.site.pin.run == again.run.id


def test_a_pin_made_for_another_scenario_is_replaced_only_after_saying_so(pinned: Told) -> None:
    site = pinned.site
    told = tell(site, "traffic.prompt.p95_tokens=200")
    said = [line for line in told.err.splitlines() if "another scenario" in line]
    where = f"attnpin: the pin at {site.pin_path} was made for another scenario (traffic.prompt.p95_tokens 128 -> 200) and will be replaced"
    assert [line.partition(";")[0] for line in said] == [where]
    assert told.err.index("another scenario") < told.err.index("probing") and site.pin.run == told.run.id


def test_what_is_wrong_with_the_serving_environment_is_said_before_anything_is_measured_and_stored_with_the_run(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "1")
    told = tell(site)
    sentence = "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1 is set: 1 multiplies float32 matrices in TF32, whatever the program asks; unset it"
    assert told.err.index(sentence) < told.err.index("probing")
    [finding] = [found for found in told.run.findings if found.rule == "variable-changes-kernels"]
    assert finding.what == "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1 is set" and finding.concerns == ()
    assert sentence in site.pin_path.with_suffix(".md").read_text()
    assert finding in read_evidence(verify_evidence(site.pin_path, site.pin)).findings


def test_where_no_arm_can_be_measured_the_run_is_incomplete(site: Site) -> None:
    told = tell(site, default_driver("scripted:segfaults"))
    assert (told.code, told.run.status, told.run.rounds) == (3, "incomplete", ())
    assert "no pin    incomplete: the default (torch_native) was not measured" in told.out


def test_a_default_that_answers_wrongly_has_an_exit_code_of_its_own(site: Site) -> None:
    told = tell(site.with_backends("works"), default_driver("scripted:answers_wrongly"))
    assert (told.code, told.run.status) == (5, "incomplete") and not site.pin_path.exists()
    assert "the default (torch_native) was not measured: torch_native on " in told.out and ": incorrect: relative error 0.3" in told.out


def test_without_that_default_what_is_pinned_answers_rightly(site: Site) -> None:
    told = tell(site.with_backends("works"), default_driver("scripted:answers_wrongly"), "without_default=true")
    assert told.code == 0 and told.site.pin.flags == (("attention-backend", "works"),)


def test_where_no_backend_may_run_at_all_there_is_no_run(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert site.tune("backend=[fa3]") == 3
    assert "nothing was started: the default torch_native cannot be measured in prefill: a run would end" in capsys.readouterr().err
    assert not site.pin_path.exists() and newest_run(open_store(site.url)) is None


def test_where_nothing_wins_the_flags_are_unset_with_a_reason(site: Site) -> None:
    told = tell(site)
    assert told.site.pin.flags == () and told.site.pin.unset is not None
    assert told.site.pin.unset.startswith("unset, because ") and f"flags     {told.site.pin.unset}" in told.out


def test_a_faster_arm_is_pinned_with_flags_that_can_be_pasted_reported_and_exported(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    told = tell(site.with_backends("swift"), "decide.min_gain=0")
    pin = str(site.pin_path)
    assert told.site.pin.flags == (("attention-backend", "swift"),) and "--attention-backend swift" in told.out
    assert cli.run(["report", "--pin", pin]) == 0
    assert "swift/p1@kernel" in capsys.readouterr().out
    assert cli.run(["export", "--pin", pin, "--to", "sglang"]) == 0
    assert "--attention-backend swift" in capsys.readouterr().out
