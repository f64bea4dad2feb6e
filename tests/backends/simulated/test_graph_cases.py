"""Every public report in tests/cases/graphs.yaml that a process of its own has an answer to: simulated GPUs, and imitated kernels."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from backends import trial
from backends.arm import Arm
from backends.blame import ArmFailed
from backends.checks.checker import Checker
from backends.checks.tolerance import Incorrect
from backends.flashinfer_calls.decode import DecodeCall
from backends.flashinfer_paged import Library
from backends.kv.inputs import lay_out
from backends.measured import Soundness
from backends.outcome import Outcome
from backends.timing.ways import PENALTY, labels, penalised
from backends.without_graph import WRONG
from tests.backends.flashinfer_calls import imitation
from tests.backends.simulated.worlds import CALM, DECODE, FA3, FLASHINFER, PREFILL, TIMING, fault, raced, stage, struck, tried
from tests.backends.small import CONTEXT_LENGTH, decode, laid_out, silent
from tests.cases.reading import read_cases

CASES = read_cases("graphs")
LIBRARY = Library(imitation.module, torch.empty(0), torch.float32, torch.float32, CONTEXT_LENGTH)


@pytest.mark.parametrize("name", ["c02-1", "c02-2"])
@pytest.mark.parametrize("device_us", [5.0, 500.0])
def test_a_graph_that_costs_more_than_it_saves_is_said(name: str, device_us: float) -> None:
    found, warned = Soundness(1.0, 1.0, 1.0, eager=1 / CASES[name]["given"]["graph_over_eager"]), CASES[name]["expect"]["warned"]
    assert penalised(found) is warned and any(label.startswith(PENALTY) for label in labels(found, device_us)) is warned


def test_what_is_captured_is_timed_without_a_graph_as_well_and_both_grids_are_shown() -> None:
    assert CASES["c02-1"]["expect"]["warned"] and not CASES["c02-2"]["expect"]["warned"]
    heard: list[str | None] = []
    list(trial.run(FA3, [DECODE, PREFILL], stage(CALM), TIMING, lambda phase, arm=None, cell=None, detail=None: heard.append(detail)))
    assert heard.count("eagerly") == 1  # of the one that is captured
    (slow,), (calm,) = (tried(world, cells=[DECODE]) for world in (struck(fault("graph_penalty", backend="fa3")), CALM))
    assert slow.soundness is not None and calm.soundness is not None and not calm.labels
    assert slow.soundness.eager is not None and calm.soundness.eager == pytest.approx(1.0)
    assert any("grids 528x1x1 in the graph, 132x1x1 launched eagerly" in label for label in slow.labels)


@pytest.mark.parametrize("arm", [FA3, FLASHINFER], ids=lambda arm: arm.backend)
def test_a_graph_that_is_wrong_on_other_requests_is_dropped_and_its_eager_call_kept(arm: Arm) -> None:
    expect, stale = CASES["c05-1"]["expect"], struck(fault("stale_graph", backend=arm.backend))
    (captured,) = tried(stale, arm, [DECODE])
    assert captured.outcome.value == expect["graph"] and expect["says"] in (captured.detail or "")
    (eager,) = trial.run(arm, [DECODE], replace(stage(stale), graph_max_batch=0), TIMING, silent)
    assert eager.outcome.value == expect["eager"] and eager.identity is not None and eager.identity.mode == "eager"


def test_a_graph_that_turns_stale_is_missed_by_no_round_either() -> None:
    assert CASES["c05-2"]["expect"]["replayed_on_other_requests"]
    with pytest.raises(ArmFailed) as failed:
        raced(struck(fault("stale_graph", backend="fa3")), [FA3, FLASHINFER], [DECODE])
    assert (failed.value.arm, failed.value.outcome) == ("fa3/p1", Outcome.INCORRECT)


@pytest.mark.parametrize("padded", [3, 8])
def test_what_is_recorded_is_recorded_on_padding_and_replayed_on_the_cells_requests(padded: int) -> None:
    data = laid_out(replace(decode(30, 200, 17, generated=4), padded_batch=padded))
    call = DecodeCall(LIBRARY, data)
    with call.capturing():
        recorded = call._wrapper.planned.tolist()
    call.plan()
    replayed = call._wrapper.planned.tolist()
    assert recorded == list(range(padded + 1)) and replayed[:4] == [0, 30, 230, 247] and recorded != replayed


def test_a_call_that_keeps_what_it_was_recorded_on_answers_wrongly(monkeypatch: pytest.MonkeyPatch) -> None:
    assert CASES["c05-2"]["kind"] == "a graph is checked only with the inputs it was captured with"
    data = laid_out(decode(30, 200, 17, generated=4))
    call, checker = DecodeCall(LIBRARY, data), Checker(data, 1, None)
    checker.check(lambda: shot(call), [1])
    with call.capturing():
        call.launch(0)
    monkeypatch.setattr(call, "plan", lambda: call._batch.refresh(data))  # a plan that the graph never hears of
    with pytest.raises(Incorrect, match="relative error"):
        checker.check(lambda: shot(call), [1])
    assert CASES["c05-1"]["expect"]["says"] in WRONG


def shot(call: DecodeCall) -> torch.Tensor:
    call.plan()
    return call.launch(1)


def test_answers_are_held_against_a_tolerance_and_never_bit_for_bit() -> None:
    given = CASES["c04"]["given"]
    data = laid_out(decode(given["context"]))
    call, checker = DecodeCall(LIBRARY, data), Checker(data, 1, None)
    factor = 1 + given["relative_difference"]
    assert not torch.equal(shot(call), shot(call) * factor)
    checker.check(lambda: shot(call), [1])
    assert checker.check(lambda: shot(call) * factor, [1]).largest == pytest.approx(given["relative_difference"], rel=0.1)


def test_page_tables_are_as_wide_as_the_servers_longest_request() -> None:
    given, passed = CASES["c04"]["given"], CASES["c04"]["expect"]["length_passed"]
    short = laid_out(decode(given["context"]))
    assert lay_out(short.cell, short.pool, passed).req_to_token.shape[1] == passed
