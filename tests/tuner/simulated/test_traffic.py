"""A whole tune on traffic that was read from a log: its record goes with the run, and its cells with what the default's probe shows. Real
workers, which is why it takes longer."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.cell import Phase
from store.evidence.run_evidence import read_evidence
from store.pins.pin_files import evidence_path
from tests.tuner.simulated.telling import Told, pin_in, told, tuned
from tuner.decide import decide


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Ever busier, so that batches of one and of a dozen count; prompts of two lengths."""
    folder = tmp_path_factory.mktemp("made")
    gaps = (3.0 * 0.985**number for number in range(300))
    at = 0.0
    rows = ["arrival_s,prompt_tokens,output_tokens"]
    for number, gap in enumerate(gaps):
        at += gap
        rows.append(f"{at:.3f},{800 if number % 3 else 3000},{150 + number % 50}")
    (folder / "monday.csv").write_text("\n".join(rows) + "\n")
    return tuned(folder, "traffic=trace", f"traffic.path={folder / 'monday.csv'}")


def test_the_run_is_decided_on_the_cells_of_the_log(made: Told) -> None:
    assert (made.code, made.run.status, made.run.scenario.traffic.name) == (0, "finished", "monday")
    for phase in Phase:
        shares = [one.token_share for one in made.run.cells if one.cell.phase is phase]
        assert sum(shares) == pytest.approx(1)


def test_cells_were_added_where_the_default_s_probe_asked_for_them_and_everybody_was_measured_on_them(made: Told) -> None:
    added = [line.split(" was added: ")[0].removeprefix("attnpin: ") for line in made.err.splitlines() if " was added: " in line]
    assert added and set(added) <= {one.cell.name for one in made.run.cells}
    probed = {(trial.arm, trial.cell) for trial in made.run.trials}
    assert {(arm.name, name) for arm in made.run.arms for name in added} <= probed


def test_pin_and_report_say_what_was_read_what_it_covers_and_what_other_traffic_would_change(made: Told) -> None:
    for text in (pin_in(made.folder).with_suffix(".md").read_text(), told(made.folder, "report", "--pin", str(pin_in(made.folder))).out):
        assert "monday: 300 rows read as columns, none left out" in text
        assert "of the predicted attention time, within a factor of 2 in batch, new tokens and context" in text
        assert "Under other traffic" in text and "whatever the weights of the cells" in text
        assert "of the log drawn again 200 times" in text


def test_the_evidence_is_decided_again_as_it_was_without_the_log(made: Told) -> None:
    Path(made.folder / "monday.csv").unlink()
    run = read_evidence(evidence_path(pin_in(made.folder)))
    assert run.scenario.traffic.recorded == made.run.scenario.traffic.recorded
    again, then = decide(run), made.run.decision
    assert then is not None and again.robustness and (again.pick, again.robustness) == (then.pick, then.robustness)
