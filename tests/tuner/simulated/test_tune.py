"""The whole of `attnpin tune` where there is no GPU, and everything it leaves behind says so."""

from __future__ import annotations

import pytest

from backends.simulated.world import CAUTION
from store.evidence.run_evidence import read_evidence
from store.pins.pin_files import verify_evidence
from tests.tuner.simulated.telling import Told, pin_in, told, tune_line, url_in


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """The default takes twice the time of FlashInfer in decode; in prefill it is faster."""
    folder = tmp_path_factory.mktemp("simulated")
    chosen = ("traffic=chat", "gpu.simulated.factor.fa3.decode=2.8")
    return told(folder, *tune_line(folder, *chosen))


def test_a_tune_pins_what_was_made_faster(finished: Told) -> None:
    assert finished.code == 0 and finished.run.status == "finished"
    assert dict(finished.pin.flags) == {"prefill-attention-backend": "fa3", "decode-attention-backend": "flashinfer"}


def test_times_are_those_that_were_chosen(finished: Told) -> None:
    times = {(trial.arm, trial.cell): trial.cost.device_us for trial in finished.run.trials if trial.cost}
    for cell in (weighted.cell for weighted in finished.run.cells):
        factor = 0.5 if cell.phase.value == "decode" else 1.3
        assert times["flashinfer/p1", cell.name] == pytest.approx(factor * times["fa3/p1", cell.name], rel=0.03)


def test_every_output_says_that_no_gpu_was_measured(finished: Told) -> None:
    pin = pin_in(finished.folder)
    reports = [told(finished.folder, "report", f"store.url={url_in(finished.folder)}", *form).out for form in ([], ["--md"], ["--json"])]
    texts = [finished.out, pin.read_text(), pin.with_suffix(".md").read_text(), *reports]
    assert all(CAUTION in text for text in texts)
    assert finished.pin.valid_for.gpu == "simulated H200" and "simulated H200" in finished.err
    evidence = read_evidence(verify_evidence(pin, finished.pin))
    assert evidence.environment.board.name == evidence.scenario.gpu.name == "simulated H200"


def test_no_launcher_takes_the_pin_except_as_a_hint(finished: Told) -> None:
    export = ("export", "--pin", str(pin_in(finished.folder)), "--to", "sglang")
    refused, hint = told(finished.folder, *export), told(finished.folder, *export, "--as-hint")
    assert refused.code == 2 and refused.out == ""
    assert "this pin was made on simulated H200, which is no GPU that anything could serve on" in refused.err
    assert hint.code == 0 and all(line.startswith("#") for line in hint.out.splitlines())


def test_a_check_on_the_same_simulated_gpu_holds_and_sees_an_upgrade(finished: Told) -> None:
    check = ("check", "--fast", "--pin", str(pin_in(finished.folder)), "gpu=simulated")
    same = told(finished.folder, *check)
    upgraded = told(finished.folder, *check, "gpu.simulated.versions.flashinfer=0.6.1")
    assert same.code == 0, same.out
    assert upgraded.code == 3 and "flashinfer-python" in upgraded.out and "0.6.1" in upgraded.out
