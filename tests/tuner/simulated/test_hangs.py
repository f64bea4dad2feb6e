"""A process that hangs, whatever it is at, is ended after the patience with that, and costs its arm alone.

Some fifteen seconds, mostly slept: every hang is a real one, and waited for a second.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.outcome import Outcome
from tests.backends.simulated.worlds import fault
from tests.tuner.simulated.telling import FIRST_ROUND, Told, tuned

# Backend, what its process hangs at, and the phase that this is in.
HANGS = {
    "flashinfer": ("building", "build"),
    "triton": ("capturing", "capture"),
    "torch_native": ("checking", "check"),
    "flex_attention": ("timing", "timing"),
    "trtllm_mha": ("importing", "open"),
}
ALL_OF = {"trtllm_mha"}  # before any phase of the model
IMPATIENT = tuple(f"patience.{work}=1s" for work, _ in HANGS.values())
ONE_PROCESS = "measure.processes=1"


@pytest.fixture(scope="module")
def hung(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Every arm but the default hangs in decode, or before it, each at something else."""
    faults = [fault("hang", backend=backend, at=at, cell=None if backend in ALL_OF else "decode-1") for backend, (at, _) in HANGS.items()]
    return tuned(tmp_path_factory.mktemp("hung"), f"backend=[fa3,{','.join(HANGS)}]", ONE_PROCESS, *IMPATIENT, faults=faults)


def trials_of(told: Told, backend: str) -> dict[str, tuple[str, str]]:
    return {trial.cell: (trial.outcome.value, trial.detail or "") for trial in told.run.trials if trial.arm.startswith(f"{backend}/")}


@pytest.mark.parametrize("backend", HANGS)
def test_whatever_it_is_at_arm_phase_cell_seconds_and_setting_are_said(hung: Told, backend: str) -> None:
    at, phase = HANGS[backend]
    outcome, detail = trials_of(hung, backend)["decode-1"]
    assert outcome == "timed out" and detail.startswith(f"no word for 1 s (phase {phase}, {backend}/p")
    assert detail.endswith(f"raise patience.{at} if it needs longer") and detail in hung.err
    assert "decode-1" in detail or backend in ALL_OF


@pytest.mark.parametrize("backend", sorted(HANGS.keys() - ALL_OF))
def test_it_is_not_tried_on_the_rest_of_that_phase_and_measured_in_the_other(hung: Told, backend: str) -> None:
    found = trials_of(hung, backend)
    rest = [cell for cell in found if cell.startswith("decode-") and cell != "decode-1"]
    assert rest and all(found[cell] == ("timed out", "not tried after it timed out on decode-1, in the same phase") for cell in rest)
    assert found["prefill-fresh"][0] == "measured"


def test_the_others_race_on(hung: Told) -> None:
    assert hung.code == 0 and hung.run.status == "finished" and len(hung.run.rounds) == 1
    assert {outcome for outcome, _ in trials_of(hung, "fa3").values()} == {"measured"}


def test_a_hang_in_the_race_costs_its_arm_that_phase_and_the_round_is_run_again(tmp_path: Path) -> None:
    told = tuned(tmp_path, ONE_PROCESS, *IMPATIENT, faults=[fault("hang", backend="flashinfer", phase="decode", process=FIRST_ROUND)])
    assert told.code == 0 and "round 1 broke off, timed out (flashinfer/p1, decode-" in told.err
    (lost,) = (trial for trial in told.run.trials if trial.outcome is Outcome.TIMED_OUT)
    assert (lost.detail or "").endswith("raise patience.timing if it needs longer (in round 1, after a good probe)")
    raced = {visit.arm for cell in told.run.rounds[0].cells for visit in cell.visits if cell.cell.startswith("decode-")}
    assert raced == {"fa3/p1"}


def test_a_default_that_hangs_on_a_guard_alone_is_kept_and_that_is_said_before_anything_else(tmp_path: Path) -> None:
    hang = fault("hang", backend="fa3", cell="decode-longest", process=FIRST_ROUND)
    told = tuned(tmp_path, ONE_PROCESS, *IMPATIENT, faults=[hang])
    assert told.code == 0 and told.run.decision is not None
    _, first, *_ = told.run.decision.cautions  # after that nothing is measured
    assert first.startswith("fa3/p1 times out on decode-longest: no word for 1 s (phase ")
