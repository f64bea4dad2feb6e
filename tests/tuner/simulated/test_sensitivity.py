"""A whole tune that measures its finalists once more: their order turns, one process is killed, and one cannot do it."""

from __future__ import annotations

import pytest

from store.revisit import Condition
from tests.backends.simulated.worlds import fault
from tests.tuner.simulated.telling import FIRST_ROUND, Told, pin_in, tuned

ONCE_MORE = FIRST_ROUND + 2  # the first process after the race of `TWO_ARMS`


@pytest.fixture(scope="module")
def turned(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Both conditions are worse for the default."""
    worse = [fault(kind, backend="fa3") for kind in ("crowded", "scattered")]
    killed = fault("killed", process=ONCE_MORE, after_s=9)
    failed = fault("out_of_memory", backend="flashinfer", process=ONCE_MORE + 2)
    close = ("measure.sensitivity=[sandwich,random_pages]", "gpu.simulated.factor.flashinfer.decode=1.03")
    return tuned(tmp_path_factory.mktemp("turned"), *close, faults=[*worse, killed, failed])


def test_finalists_are_measured_under_each_condition(turned: Told) -> None:
    first = turned.run.revisits[0]
    assert turned.code == 0 and [condition for condition, _ in first.under] == list(Condition)
    spacers = {condition: cell.spacer_us for condition, cell in first.under}
    assert spacers[Condition.SANDWICH] == pytest.approx(first.stream_bytes / 4.8e12 * 1e6) and spacers[Condition.RANDOM_PAGES] is None
    assert all({visit.arm for visit in cell.visits} == {"fa3/p1", "flashinfer/p1"} for _, cell in first.under)


def test_a_process_that_is_killed_is_run_again(turned: Told) -> None:
    assert "the finalists once more, process 1 of 2: the worker ended without a word" in turned.err
    assert [each.index for each in turned.run.revisits] == [0, 1] and turned.run.revisits[0].failed is None


def test_an_arm_that_fails_there_costs_its_process_and_not_the_run(turned: Told) -> None:
    assert turned.run.decision is not None and turned.run.status == "finished"
    said = "whether the ranking holds under other conditions could not be tried: flashinfer/p1: out of memory: OutOfMemoryError"
    assert any(caution.startswith(said) for caution in turned.run.decision.cautions)


def test_an_order_that_turns_is_said_wherever_the_pin_is_justified(turned: Told) -> None:
    for text in (pin_in(turned.folder).with_suffix(".md").read_text(), turned.out):
        assert "the ranking does not hold when the layer's weights (368 MiB) stream between two calls: flashinfer" in text
        assert "layout-sensitive: under random pages flashinfer" in text
    assert turned.run.decision is not None and all(each.pick_changes for each in turned.run.decision.sensitivity)
