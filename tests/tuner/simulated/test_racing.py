"""A whole job on a simulated GPU: arms leave, the race ends early, the pick is measured again. It is broken off twice and goes on.

Ten real workers, some five seconds of one core: what races when is otherwise tested without any (tests/tuner/racing).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from store.runs.run import Run
from tests.tuner.simulated.telling import Told, told, tune_line, tuned
from tuner import race
from tuner.device.patience import Patience
from tuner.job import Job
from tuner.race import Measured
from tuner.racing.next_round import NextRound

THREE_ARMS = ("backend=[fa3,flashinfer,triton]", "gpu.simulated.factor.fa3.decode=2.8", "explain=true")
DEFAULT = {("fa3", "prefill"), ("fa3", "decode")}


@pytest.fixture(scope="module")
def attempts(tmp_path_factory: pytest.TempPathFactory) -> list[Told]:
    """FlashInfer takes half the time of the default in decode, fa3 is best in prefill, triton nowhere. Broken off before the second
    round, and again between the two processes after the choice."""
    folder, original, breaks = tmp_path_factory.mktemp("race"), race.run_round, [1, 3]

    def broken(job: Job, coming: NextRound, patience: Patience, measured: Measured) -> None:
        if coming.index in breaks:
            breaks.remove(coming.index)
            raise KeyboardInterrupt
        original(job, coming, patience, measured)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(race, "run_round", broken)
        return [told(folder, *tune_line(folder, *THREE_ARMS)) for _ in range(3)]


def raced(run: Run, index: int) -> set[tuple[str, str]]:
    """(backend, phase) of a round."""
    phases = {weighted.cell.name: weighted.cell.phase.value for weighted in run.cells}
    return {(visit.arm.partition("/")[0], phases[cell.cell]) for cell in run.rounds[index].cells for visit in cell.visits}


def test_arms_leave_the_phases_they_lost_and_the_pick_is_measured_again(attempts: list[Told]) -> None:
    run = attempts[-1].run
    assert [told.code for told in attempts] == [130, 130, 0] and run.status == "finished"
    assert [measured.confirms for measured in run.rounds] == [False] * 2 + [True] * 2
    assert raced(run, 0) == {(backend, phase) for backend in ("fa3", "flashinfer", "triton") for phase in ("prefill", "decode")}
    assert all(raced(run, index) == {*DEFAULT, ("flashinfer", "decode")} for index in range(1, 4))


def test_what_is_printed_tells_the_race_and_explains_it(attempts: list[Told]) -> None:
    said, out = "".join(told.err for told in attempts), attempts[-1].out
    assert "round 1 of at most 2" in said and "round 3, the pick once more" in said
    assert "measured after the choice, which was made at 0." in out
    assert "Which pairs may be the best? Looks after 2 processes" in out and "Does the pick hold in fresh processes?" in out


def test_where_no_kernel_could_win_enough_only_the_default_is_probed(tmp_path: Path) -> None:
    told = tuned(tmp_path, "decide.min_gain=0.9")
    assert told.code == 0 and told.run.rounds == () and {trial.arm for trial in told.run.trials} == {"fa3/p1"}
    assert "even attention at the speed of the memory and the arithmetic would win at most" in told.out and told.run.left_out == ()
