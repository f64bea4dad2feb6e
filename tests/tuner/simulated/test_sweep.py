"""Two scenarios by their own commands, on a simulated GPU; one of them cannot be begun."""

from __future__ import annotations

import json
from pathlib import Path

from store.pins.pin_files import read_pin
from tests.tuner.simulated.telling import TWO_ARMS, told, tuned, url_in


def test_a_sweep_ends_with_a_pin_for_each_scenario_that_could_be_measured_and_an_index(tmp_path: Path) -> None:
    common = (*TWO_ARMS, f"store.url={url_in(tmp_path)}", "pin.path=" + str(tmp_path) + "/pins/${traffic.name}/pin.yaml")
    found = told(tmp_path, "tune", "--multirun", *common, "traffic=single_user,nosuch", "--json")
    assert found.code == 2
    entries = json.loads(found.out)["entries"]
    assert [entry["ending"]["exit_code"] for entry in entries] == [0, 2]
    assert entries[0]["ending"]["pin"] == str(tmp_path / "pins/single_user/pin.yaml")
    assert read_pin(tmp_path / "pins/single_user/pin.yaml").run == entries[0]["ending"]["run"] == found.run.id
    assert {path.name for path in (tmp_path / "pins").iterdir()} == {"index.html", "index.json", "single_user"}
    assert "--multirun" not in found.run.command and "traffic=single_user" in found.run.command


def test_how_a_single_job_ended_is_data_on_request(tmp_path: Path) -> None:
    made = tuned(tmp_path, "json=true")
    ending = json.loads(made.out)
    assert (ending["exit_code"], ending["run"], ending["pin"], ending["flags"]) == (0, made.run.id, str(tmp_path / "pin/pin.yaml"), [])
    assert ending["said"].startswith("leave the flags unset") and made.out.count("\n") == 1
    again = tuned(tmp_path, "json=true", "fresh=true", f"executor.since='{made.run.created}'")
    assert json.loads(again.out) == ending and "measured this in the same sweep" in again.err
    assert again.run == made.run
