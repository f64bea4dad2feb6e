"""Whatever befalls the GPU, an arm or a process ends in the outcome, the sentence and the exit code written down for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backends.simulated.worlds import fault
from tests.tuner.simulated.telling import FIRST_ROUND, Told, pin_in, tuned

ONE_PROCESS = "measure.processes=1"


@pytest.fixture(scope="module")
def bad_day(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Every arm but the default meets a misfortune of its own, and some of them several."""
    return tuned(
        tmp_path_factory.mktemp("bad_day"),
        "backend=[fa3,flashinfer,triton,torch_native,flex_attention,trtllm_mha]",
        "patience.timing=1s",
        ONE_PROCESS,
        faults=(
            fault("no_compiler", backend="flashinfer", cell="prefill-fresh"),
            fault("nans", backend="flashinfer"),
            fault("no_code", backend="triton", cell="decode-1"),
            fault("wrong_abi", backend="trtllm_mha"),
            fault("lost_key", backend="triton"),
            fault("out_of_memory", backend="torch_native"),
            fault("crash", backend="flex_attention", cell="decode-1"),
            fault("hang", backend="flex_attention", cell="prefill-fresh"),
            fault("warm_cache", backend="flex_attention", cell="decode-longest"),
        ),
    )


@pytest.mark.parametrize(
    ("arm", "cell", "outcome", "sentence"),
    [
        ("flashinfer/p1", "decode-1", "incorrect", "4096 of 4096 output elements are NaN or infinite: wrong, or never written"),
        ("flashinfer/p1", "prefill-fresh", "build failed", "Could not find nvcc"),
        ("triton/p1", "decode-1", "refused", "no kernel image is available for execution on the device"),
        ("trtllm_mha/p64", "decode-1", "missing package", "trtllm_mha_ops.abi3.so: undefined symbol"),
        ("triton/p1", "prefill-fresh", "incorrect", "a query aimed at one key (newest) errs by 1.00e+00, at most 3e-02 is right"),
        ("torch_native/p1", "decode-1", "out of memory", "CUDA out of memory. torch_native tried to allocate 20.00 GiB"),
        ("flex_attention/p1", "decode-1", "crashed", "the process was ended by SIGSEGV"),
        ("flex_attention/p1", "prefill-fresh", "timed out", "no word for 1 s (phase timing, flex_attention/p1, "),
        ("flex_attention/p1", "decode-longest", "implausible", "9600 GB/s of unique KV, this memory gives 4800 GB/s"),
    ],
)
def test_an_arm_that_fails_is_stored_with_its_outcome_and_named(bad_day: Told, arm: str, cell: str, outcome: str, sentence: str) -> None:
    (trial,) = (trial for trial in bad_day.run.trials if (trial.arm, trial.cell) == (arm, cell))
    assert trial.outcome.value == outcome and sentence in (trial.detail or "")
    assert f"{arm}: " in bad_day.err


def test_what_fails_costs_its_own_arm_alone(bad_day: Told) -> None:
    assert bad_day.code == 0 and bad_day.run.status == "finished"
    assert {trial.outcome.value for trial in bad_day.run.trials if trial.arm == "fa3/p1"} == {"measured"}
    raced = {visit.arm for cell in bad_day.run.rounds[0].cells for visit in cell.visits if cell.cell in ("decode-1", "prefill-fresh")}
    assert raced == {"fa3/p1"} and bad_day.pin.flags == ()


def test_a_wrong_default_is_named_and_nothing_is_pinned(tmp_path: Path) -> None:
    told = tuned(tmp_path, ONE_PROCESS, faults=[fault("nans", backend="fa3")])
    assert told.code != 0 and not (tmp_path / "pin" / "pin.yaml").exists()
    assert "the default (fa3) was not measured: fa3 on decode-1: incorrect: " in told.out


def test_heat_that_stays_invalidates_the_measurement_and_is_no_regression(tmp_path: Path) -> None:
    told = tuned(tmp_path, ONE_PROCESS, faults=[fault("thermal", process=FIRST_ROUND + each) for each in range(4)])
    assert told.code == 4 and told.out == ""
    hot = "measurement invalid: thermal slowdown by the hardware (91 C, 700 W, 1980 MHz SM clock), again after 3 rests of 10 s"
    assert told.err.rstrip().endswith(f"round 1 broke off 4 times, last with: {hot}; run the same command again")
    assert told.run.status == "running" and told.run.rounds == ()


def test_somebody_else_on_the_gpu_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    told = tuned(tmp_path, ONE_PROCESS, faults=[fault("foreign_process", process=0)])
    assert told.code == 4
    assert "simulated H200 is used by others: 40.0 GiB are taken, at 97 % load; wait until it is free" in told.err


def test_somebody_who_comes_between_two_of_our_processes_is_refused_as_at_the_start(tmp_path: Path) -> None:
    told = tuned(tmp_path, ONE_PROCESS, faults=[fault("foreign_process", process=FIRST_ROUND)])
    assert told.code == 4 and told.out == ""
    said = told.err.rstrip().splitlines()[-1]
    assert said.startswith("attnpin: simulated H200 is used by others: 40.0 GiB are taken; wait until it is free (wait_for_gpu=2h does)")
    assert told.run.status == "running" and told.run.trials and told.run.rounds == ()


def test_somebody_who_comes_between_two_of_our_processes_is_waited_for_where_that_was_asked_for(tmp_path: Path) -> None:
    told = tuned(tmp_path, ONE_PROCESS, "wait_for_gpu=2h", faults=[fault("foreign_process", process=FIRST_ROUND, for_s=60.0)])
    assert told.code == 0 and len(told.run.rounds) == 1
    assert "attnpin: waiting until simulated H200 is free: 40.0 GiB are taken; " in told.err and "of 2 h have passed" in told.err
    assert dict(told.run.rounds[0].seconds)["waiting"] == pytest.approx(60.0)
    assert told.run.rounds[0].labels == ()


def test_heat_that_stays_invalidates_a_probe_as_it_does_a_round(tmp_path: Path) -> None:
    told = tuned(tmp_path, ONE_PROCESS, faults=[fault("thermal")])
    assert told.code == 4 and told.out == "" and told.run.trials == ()
    hot = "measurement invalid: thermal slowdown by the hardware (91 C, 700 W, 1980 MHz SM clock), again after 3 rests of 10 s"
    assert told.err.rstrip().endswith(f"the probe of fa3/p1 broke off 4 times, last with: {hot}; run the same command again")


def test_a_worker_that_is_killed_and_a_stranger_cost_their_rounds_which_are_run_again_and_counted_once(tmp_path: Path) -> None:
    killed, stranger = fault("killed", process=FIRST_ROUND, after_s=13), fault("foreign_process", process=FIRST_ROUND + 1, after_s=12)
    told = tuned(tmp_path, ONE_PROCESS, faults=[killed, stranger])
    assert told.code == 0 and [measured.index for measured in told.run.rounds] == [0]
    assert "round 1 broke off, interrupted" in told.err and "the worker ended without a word" in told.err
    assert "measurement invalid: somebody else started to use the GPU, 1024 MiB more are taken than this process reserved" in told.err


def test_what_cannot_be_verified_and_clocks_that_never_settle_are_labels(tmp_path: Path) -> None:
    told = tuned(tmp_path, "gpu.simulated.telling=false", "gpu.simulated.noise.drift_pct_per_minute=100", ONE_PROCESS)
    assert told.code == 0
    labels = set(told.run.rounds[0].labels)
    assert {"exclusivity not verifiable", "guard not verifiable", "unsettled"} < labels
    said = pin_in(tmp_path).with_suffix(".md").read_text()
    assert all(f"{label} in 1 of 1 processes" in said for label in labels)
