"""A minute of the GPU for `attnpin triage`, on a simulated one: a tune and three screens, some 20 real workers, so it takes longer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from backends.simulated.world import Fault
from store.evidence.run_evidence import read_evidence
from store.pins.pin_files import read_pin, verify_evidence
from store.serving.triaged import Blame, Kind, Triaged
from store.verdicts.checked import Answer
from tests.backends.simulated.worlds import fault
from tests.tuner.simulated.telling import TWO_ARMS, Told, pin_in, tuned, url_in
from tests.tuner.triaging.serving import decode, printed, read, start
from tuner.check import fast_verdict
from tuner.checking.pinned import as_pinned
from tuner.clock import PhaseClock
from tuner.composing.simulation import with_packages
from tuner.device.host import Host
from tuner.device.session import Session
from tuner.device.worker_code import worker_code
from tuner.engines.lookup import paced_by
from tuner.errors import MeasurementInvalid
from tuner.progress import Progress
from tuner.settings import compose
from tuner.triaging.concluding import concluded
from tuner.triaging.screen import MOST_CELLS, narrowed, screened
from tuner.triaging.signs import Signs
from tuner.verifying.expected import expected

SLOW_DEFAULT = ("gpu.simulated.factor.fa3.decode=2.8", "decide.min_gain=0.001", "measure.processes=3")  # so FlashInfer decodes
BOTH = {"prefill_attention_backend": "fa3", "decode_attention_backend": "flashinfer"}


@pytest.fixture(scope="module")
def pinned(tmp_path_factory: pytest.TempPathFactory) -> Told:
    made = tuned(tmp_path_factory.mktemp("pinned"), *SLOW_DEFAULT)
    assert made.code == 0 and dict(made.pin.flags)["decode-attention-backend"] == "flashinfer"
    return made


def signs(pinned: Told) -> Signs:
    """Of a server as pinned that serves one request at a time."""
    pin = read_pin(pin_in(pinned.folder))
    run = read_evidence(verify_evidence(pin_in(pinned.folder), pin))
    wanted = expected(pin, run)
    log = printed([*start("fa3", **BOTH), *[decode(1, tokens=1200)] * 20])
    verified, load = read(log, wanted)
    return Signs(Path("pin.yaml"), run, wanted, verified, paced_by("sglang").REMEDIES, load)


def answer(pinned: Told, *packages: str, faults: Sequence[Fault] = ()) -> Triaged:
    """With ``packages`` in the place of the pin's, measured."""
    found, asked = signs(pinned), compose([*TWO_ARMS, *SLOW_DEFAULT])
    assert asked.world is not None
    world = replace(with_packages(asked.world, packages), faults=tuple(faults))
    question = as_pinned(replace(asked, store_url=url_in(pinned.folder), world=world), found.run)
    engine = question.scenario.engine
    host = Host(engine, worker_code(question), question.world)
    with Progress() as progress, Session(host, progress, PhaseClock(), ahead=True) as session:
        fast, here = fast_verdict(session.keeper, question, found.pin, found.run)
        return concluded(replace(found, fast=fast, screened=screened(replace(found, fast=fast), fast, here, question, session)))


def test_no_more_is_measured_than_what_serves_and_the_default_on_the_worst_cells(pinned: Told) -> None:
    run = signs(pinned).run
    few = narrowed(run, 1)
    assert 1 < len(few.cells) <= MOST_CELLS < len(run.cells) and {arm.backend for arm in few.arms} == {"fa3", "flashinfer"}
    assert "decode-1" in [each.cell.name for each in few.cells]


def test_a_release_that_made_the_pinned_arm_slow_is_measured_as_attention(pinned: Told) -> None:
    found = answer(pinned, "flashinfer-python==0.6.1")
    assert found.screened is not None and found.screened.answer in (Answer.REGRESSED, Answer.SUSPECT)
    assert found.causes[0].blame is Blame.ATTENTION and found.causes[0].ground.value == "measured" and found.exit_code == 1


def test_where_nothing_changed_the_same_machine_code_says_that_it_is_not_attention(pinned: Told) -> None:
    found = answer(pinned)
    assert found.causes[0].kind is Kind.NOTHING and found.exit_code == 0
    assert "measured now on this GPU, attention" in found.causes[0].proofs[0].words


def test_a_gpu_that_others_use_is_not_measured(pinned: Told) -> None:
    with pytest.raises(MeasurementInvalid, match="is used by others"):
        answer(pinned, faults=[fault("foreign_process")])
