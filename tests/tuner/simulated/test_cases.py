"""Public reports told end to end: a whole tune on a simulated GPU on which several of them happen at once. Five real workers, some four
seconds of one core."""

from __future__ import annotations

import pytest

from backends.outcome import Outcome
from backends.without_graph import WRONG
from tests.backends.simulated.worlds import fault
from tests.cases.reading import read_cases
from tests.tuner.simulated.telling import Told, pin_in, tuned

GRAPHS, MEASURING = read_cases("graphs"), read_cases("measuring")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """The default's graph costs more than it saves, one rival's is stale, another rival takes another path and starts slowly."""
    return tuned(
        tmp_path_factory.mktemp("cases"),
        "backend=[fa3,flashinfer,triton]",
        "measure.processes=1",
        "gpu.simulated.factor.triton={decode: 3.5, prefill: 1.6}",
        faults=(
            fault("graph_penalty", backend="fa3"),
            fault("stale_graph", backend="flashinfer"),
            fault("slow_build", backend="triton", seconds=float(max(MEASURING["e09"]["given"]["start_s"]))),
        ),
    )


def test_a_stale_graph_is_stored_as_wrong_with_what_was_right(told: Told) -> None:
    failed = [trial for trial in told.run.trials if trial.outcome is Outcome.INCORRECT]
    assert failed and {trial.arm for trial in failed} == {"flashinfer/p1"} and all("decode" in trial.cell for trial in failed)
    assert GRAPHS["c05-1"]["expect"]["says"] in WRONG and all((trial.detail or "").startswith(WRONG) for trial in failed)


@pytest.mark.parametrize(
    "words",
    [
        ("fa3/p1 on", "graph penalty: in a graph a call takes 1."),
        ("fa3/p1 on", "graph penalty: grids 528x1x1 in the graph, 132x1x1 launched eagerly"),
        ("triton/p1 reads at", *MEASURING["e06-1"]["expect"]["says"]),
    ],
    ids=["penalty", "grids", "path"],
)
def test_what_is_doubtful_is_written_into_the_justification(told: Told, words: tuple[str, ...]) -> None:
    lines = pin_in(told.folder).with_suffix(".md").read_text().splitlines()
    assert any(all(word in line for word in words) for line in lines)


def test_a_slow_start_is_shown_as_such_and_costs_no_race(told: Told) -> None:
    trials = [trial for trial in told.run.trials if trial.arm == "triton/p1"]
    assert {trial.outcome for trial in trials} == {Outcome.MEASURED}
    assert max(trial.first_call_s or 0.0 for trial in trials) > max(MEASURING["e09"]["given"]["start_s"])
    assert "triton/p1" in {visit.arm for cell in told.run.rounds[0].cells for visit in cell.visits}


def test_the_command_ends_well(told: Told) -> None:
    assert told.code == 0 and told.run.status == "finished"
