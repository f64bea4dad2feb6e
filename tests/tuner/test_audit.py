"""Whole audits on a simulated Hopper GPU, through the command line: made-up times, everything else as it is.

One is measured by its workers, killed and gone on with; in the others the times are put into the store, which is quicker.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from backends.outcome import Outcome
from store.boards.calibration import NoiseFloor
from store.database.connect import open_store
from store.past.history import list_runs
from store.runs.repository import add_round, add_trials, newest_run
from store.runs.run import Run
from tests.tuner.building import Recipe, build
from tuner import cli
from tuner.device.keeper import Keeper
from tuner.job import Job
from tuner.racing.sieve import HOPELESS

Failures = Mapping[tuple[str, str], tuple[Outcome, str]]

NAMED = "reason-decode-64x4096"
EXAMPLES = Path(__file__).parents[2] / "examples"
REPORTED = EXAMPLES / "reported" / "h20-qwen3_235b_a22b.yaml"
SMALL = (
    "model=qwen3_8b",
    "engine.role=decode",
    "backend=[fa3,flashinfer]",
    "traffic.concurrency=1",
    "measure.processes=2",
    "measure.timing.blocks=2",
    "measure.timing.replays=2",
    "gpu=simulated",
    "gpu.simulated.noise.process_pct=0",
)


@dataclass(frozen=True)
class Told:
    code: int
    out: str
    err: str

    def line(self, label: str) -> str:
        return next(line.strip() for line in self.out.splitlines() if line.strip().startswith(label))


@dataclass(frozen=True)
class Site:
    url: str
    capsys: pytest.CaptureFixture[str]

    def audit(self, *more: str) -> Told:
        self.capsys.readouterr()
        code = cli.run(["audit", *SMALL, f"store.url={self.url}", *more])
        captured = self.capsys.readouterr()
        return Told(code, captured.out, captured.err)

    def audit_with(self, factors: Mapping[str, float], *more: str, failures: Failures | None = None) -> Told:
        """Each arm takes its factor (1 where none is given) of 100 us on every cell; one four times as slow as fa3 does not race."""

        def work_off(job: Job, run: Run) -> None:
            times = {(arm.name, one.cell.name): 100.0 * factors.get(arm.name, 1.0) for arm in run.arms for one in run.cells}
            racing = tuple(arm for arm in run.arms if factors.get(arm.name, 1.0) <= HOPELESS)
            probed, raced = (build(Recipe(arms, times, run.cells, processes=2, failures=failures or {})) for arms in (run.arms, racing))
            add_trials(job.store, run.id, probed.trials)
            for measured in raced.rounds:
                add_round(job.store, run.id, measured)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tuner.audit.work_off", work_off)
            return self.audit(*more)

    @property
    def run(self) -> Run:
        run = newest_run(open_store(self.url))
        assert run is not None
        return run


@pytest.fixture
def site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Site:
    return Site(f"sqlite:///{tmp_path}/attnpin.db", capsys)


def test_an_audit_that_broke_off_goes_on_says_that_the_reason_is_gone_and_is_answered_from_the_store_the_next_time(site: Site) -> None:
    killed = ",".join(f"{{kind: killed, process: {process}}}" for process in range(3, 7))  # after the probes, which are not run again
    world = f"gpu.simulated.faults=[{killed}]"
    assert site.audit(world).code == 4
    began = site.run
    first = site.audit(world)
    assert first.code == 0 and "default.mha.hopper: no longer holds" in first.out
    assert "with FlashInfer 0.6.14 here flashinfer takes" in first.line("reason") and "over 2 fresh processes" in first.line("reason")
    assert first.line("default:") == "default: fa3, the default is still not slower: keep"
    run = site.run
    assert (run.id, run.status, run.trials) == (began.id, "finished", began.trials) and began.status == "running"
    assert {arm.backend for arm in run.arms} == {"fa3", "flashinfer"} and run.command.split()[0] == "attnpin"
    assert NAMED in {weighted.cell.name for weighted in run.cells}
    assert all(len({visit.arm for visit in cell.visits}) == 2 for measured in run.rounds for cell in measured.cells)
    second = site.audit(world)
    assert (second.code, second.out) == (first.code, first.out) and site.run.id == run.id
    assert f"run {run.id} of {run.created} measured just this; fresh=true measures it again" in second.err
    assert "round" in first.err and "round" not in second.err


def test_a_finished_audit_says_nothing_of_a_simulated_gpu_that_something_else_befalls(site: Site) -> None:
    site.audit_with({})
    calm = site.run
    assert "measured just this" in site.audit_with({}).err and site.run.id == calm.id
    other = site.audit_with({}, "gpu.simulated.faults=[{kind: power_cap}]")
    assert "measured just this" not in other.err and site.run.digest != calm.digest


def test_an_audit_waits_for_the_device_as_a_tune_does_and_is_answered_by_the_audit_it_waited_for(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[tuple[str, str]] = []

    def wait_for_another_audit(keeper: Keeper, key: str, owner: str, go_on: Callable[[str], str]) -> bool:
        taken.append((key, owner))
        if len(taken) == 1:
            assert go_on(f"{key} is held by {owner}").endswith("have passed")
            site.audit_with({})
        return len(taken) == 1

    monkeypatch.setattr(Keeper, "lock", wait_for_another_audit)
    told = site.audit_with({})
    assert taken == [(site.run.environment.board.uuid, "attnpin audit model=qwen3_8b")] * 2
    assert f"run {site.run.id} of {site.run.created} measured just this" in told.err
    assert len(list_runs(open_store(site.url))) == 1


def test_with_a_release_that_has_the_fault_the_reason_holds_by_the_probes(site: Site) -> None:
    told = site.audit_with({"flashinfer/p1": 4.4}, "gpu.simulated.versions.flashinfer=0.6.1")
    assert told.code == 0 and "default.mha.hopper: holds" in told.out and "too slow to race: the reason holds" in told.line("reason")
    assert "0.6.1 is installed, among them" in told.line("releases")


def test_a_default_that_is_slower_here_ends_with_other_flags_and_exit_code_1(site: Site) -> None:
    told = site.audit_with({"flashinfer/p1": 0.36})
    assert told.code == 1 and "default.mha.hopper: no longer holds" in told.out
    assert told.line("default:") == "default: fa3 is slower: use flashinfer"
    assert told.line("flags") == "flags     --decode-attention-backend flashinfer"


def test_what_lies_at_the_size_itself_is_inconclusive(site: Site) -> None:
    told = site.audit_with({"flashinfer/p1": 2.0})
    assert told.code == 3 and "default.mha.hopper: inconclusive" in told.out


def test_an_arm_that_fails_leaves_the_reason_untested(site: Site) -> None:
    told = site.audit_with({}, failures={("flashinfer/p1", NAMED): (Outcome.OUT_OF_MEMORY, "cannot allocate 20 GiB")})
    assert told.code == 3 and "default.mha.hopper: cannot be tested here" in told.out
    assert "flashinfer/p1 on reason-decode-64x4096: out of memory: cannot allocate 20 GiB" in told.line("reason")


def test_what_cannot_be_an_arm_is_said_before_anything_is_measured(site: Site) -> None:
    told = site.audit("backend=[fa3]", "--json")
    found = json.loads(told.out)
    assert told.code == 3 and found["default"]["because"] == "none of the reasons recorded for it can be tested here"
    assert found["reasons"][0]["says"] == "flashinfer is no backend of engine sglang that was chosen in the backend group"
    assert newest_run(open_store(site.url)) is None and "probing" not in told.err


def test_a_server_that_would_not_start_is_refused_as_tune_refuses_it(site: Site) -> None:
    told = site.audit("engine.role=unified", "engine.page_size=7")
    assert told.code == 2 and "nothing was started: SGLang 0.5.22 would not start with these settings" in told.err
    assert newest_run(open_store(site.url)) is None


def test_a_difference_is_as_sure_as_the_noise_of_the_board_lets_it_be(site: Site) -> None:
    assumed = site.audit_with({"flashinfer/p1": 1.4})
    assert "no calibration of this board: process-to-process noise of 0.60 % was assumed as a floor" in assumed.err
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tuner.audit.noise_floor", lambda *_: NoiseFloor(0.5, "r0", "2026-03-01T12:00:00+00:00"))
        noisy = site.audit_with({"flashinfer/p1": 1.4}, "fresh=true")
    assert (assumed.code, noisy.code) == (0, 3) and "default.mha.hopper: inconclusive" in noisy.out


def test_without_a_recorded_reason_nothing_is_judged(site: Site) -> None:
    told = site.audit("engine.attention_backend=fa3")
    assert told.code == 3 and "no reason that can be measured is recorded on the path to it" in told.out
    assert newest_run(open_store(site.url)) is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--recorded", "a.yaml", "--pin", "b.yaml"], "--recorded a.yaml and --pin b.yaml are two things to judge; give one of them"),
        (
            ["--pin", "b.yaml", "gpu=h200"],
            "a recorded run is judged as it was asked for; leave gpu=h200 out, or measure with it and without",
        ),
        (["--recorded", "b.jsonl.zst", "gpu=h200"], "a recorded run is judged as it was asked for; leave gpu=h200 out"),
        (["--recorded", "nowhere.yaml"], "nowhere.yaml: No such file or directory; check the path"),
        (["--pin", "nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_what_contradicts_itself_or_is_not_there_is_a_usage_error(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["audit", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_reported_figures_are_judged_without_a_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["audit", "--recorded", str(REPORTED)]) == 1
    assert "default: fa3 is slower: use prefill fa3, decode flashinfer" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("engine.role=prefill", "the reason is about decode, which this server does not serve"),
        ("engine.kv_cache_dtype=fp8_e4m3", "the figures are of kv cache dtype auto, and fp8_e4m3 is asked: measure here"),
        ("engine.attn_dp_size=2", "the figures are of attn dp size 1, and 2 is asked: measure here"),
    ],
)
def test_reported_figures_say_nothing_of_another_server(asked: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["audit", "--recorded", str(REPORTED), "backend=[fa3,flashinfer]", asked]) == 3
    assert f"the reason cannot be tested here: {said}" in capsys.readouterr().out


def test_figures_that_cannot_judge_the_default_are_inconclusive_where_no_reason_is_recorded_either(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = tmp_path / "alone.yaml"
    figure = "{backend: fa3, phase: decode, metric: time_us, value: 98}"
    alone.write_text(f"scenario: [model=qwen3_8b, gpu=h20, engine.attention_backend=fa3]\nsource: [an issue]\nfigures: [{figure}]\n")
    assert cli.run(["audit", "--recorded", str(alone), "backend=[fa3,flashinfer]"]) == 3
    text = capsys.readouterr().out
    assert "default: fa3, not tested" in text and "no figure compares it with another backend of the engine" in text


def test_the_run_behind_a_pin_is_judged_without_a_gpu_and_so_is_its_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    folder = EXAMPLES / "qwen3_235b_a22b-h200"
    assert cli.run(["audit", "--pin", str(folder / "pin.yaml")]) == 0
    text = capsys.readouterr().out
    assert "default.mha.hopper: no longer holds" in text and "default: fa3, the default is still not slower: keep" in text
    assert "on the traffic's decode cells" in text and "attnpin report --run" not in text
    assert cli.run(["audit", "--recorded", str(folder / "pin.evidence.jsonl.zst")]) == 0
    assert capsys.readouterr().out == text
