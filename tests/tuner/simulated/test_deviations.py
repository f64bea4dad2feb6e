"""A default that is declared to compute otherwise than the model asks is measured, kept and told of, from the probe to the pin's page."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.deviation import SHOWED
from backends.outcome import Outcome
from store.decision import Ruling
from tests.backends.simulated.worlds import fault
from tests.tuner.simulated.telling import Told, pin_in, tuned

AMPERE = ("model=gpt_oss_120b", "gpu.sm=80", "backend=[triton,fa3]", "measure.processes=1")  # where SGLang picks triton itself
FAST = "gpu.simulated.factor.triton={decode: 0.8, prefill: 0.8}"
SAID = "decodes a layer with a window over one key fewer than the window has (127 keys where the window has 128, in window layers; "


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return tuned(tmp_path_factory.mktemp("kept"), *AMPERE, FAST)


def test_a_default_that_deviates_is_measured_and_kept(kept: Told) -> None:
    assert kept.code == 0 and kept.run.default.backends == "triton"
    assert {trial.outcome for trial in kept.run.trials} == {Outcome.MEASURED}
    assert kept.pin.flags == () and kept.run.decision is not None and kept.run.decision.ruling is Ruling.KEEP


def test_only_decode_on_long_windows_shows_it(kept: Told) -> None:
    showed = {(trial.arm, trial.cell) for trial in kept.run.trials if any(label.startswith(SHOWED) for label in trial.labels)}
    assert {arm for arm, _ in showed} == {"triton/p1"}
    assert {cell for _, cell in showed} == {
        weighted.cell.name
        for weighted in kept.run.cells
        if weighted.cell.name.startswith("decode") and weighted.cell.name.endswith("window")
    }


def test_what_is_printed_and_the_first_screen_of_the_pins_page_say_so_in_one_sentence(kept: Told) -> None:
    screen, _, _ = (pin_in(kept.folder).parent / "pin.md").read_text().partition("<details>")
    for text in (kept.out, screen):
        assert text.count(SAID) == 1 and "its answers differ by that from other backends' and from its own in prefill" in text


def test_a_faster_arm_that_deviates_does_not_take_the_defaults_place(tmp_path: Path) -> None:
    told = tuned(tmp_path, "model=gpt_oss_120b", "backend=[triton,fa3]", FAST)
    assert told.code == 0 and told.run.default.backends == "fa3"
    assert "engine.allow_deviations=true" in told.out and ("decode-attention-backend", "triton") not in told.pin.flags


def test_a_default_with_another_fault_beside_the_declared_one_is_still_wrong(tmp_path: Path) -> None:
    told = tuned(tmp_path, *AMPERE, FAST, faults=[fault("short_window", backend="triton")])
    assert told.code != 0 and not pin_in(tmp_path).exists()
    assert "the default (triton) was not measured: triton on decode-1-window: incorrect: relative error" in told.out


def test_a_release_that_mends_it_is_not_refused_for_it(tmp_path: Path) -> None:
    told = tuned(tmp_path, *AMPERE, FAST, faults=[fault("mended", backend="triton")])
    assert told.code == 0 and told.run.decision is not None and told.run.decision.ruling is Ruling.KEEP
    assert "as is declared of it: not seen here, its answers are the model's own" in told.out
