"""A pin after an upgrade, from the tune to the answer, on a simulated GPU: some 50 real workers, which is why it takes longer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from backends.simulated.world import Fault
from store.database.connect import open_store
from store.errors import EvidenceError
from store.past.history import list_runs
from store.pins.pin_files import evidence_path, read_pin
from store.runs.repository import load_run, newest_run
from store.verdicts.checked import Action, Answer, Checked, Ground
from tests.backends.simulated.worlds import fault
from tests.tuner.simulated.telling import TWO_ARMS, Told, pin_in, told, tuned, url_in
from tuner import race
from tuner.checking import rounds
from tuner.checking.with_gpu import Request, check_measured
from tuner.composing.simulation import with_packages
from tuner.errors import UsageError
from tuner.settings import Settings, compose

SLOW_DEFAULT = ("gpu.simulated.factor.fa3.decode=2.8", "decide.min_gain=0.001", "measure.processes=3")  # so FlashInfer decodes
PINNED = (("decode-attention-backend", "flashinfer"), ("prefill-attention-backend", "fa3"))
OLD, SLOW, OTHER = "flashinfer-python==0.6.14", "flashinfer-python==0.6.1", "flashinfer-python==0.6.2"
NEW_TORCH = "torch==2.12.0"
DECODE = ["decode-1", "decode-fullest", "decode-longest"]


@pytest.fixture(scope="module")
def pinned(tmp_path_factory: pytest.TempPathFactory) -> Told:
    made = tuned(tmp_path_factory.mktemp("pinned"), *SLOW_DEFAULT)
    assert made.code == 0 and made.pin.flags == PINNED
    return made


@pytest.fixture(scope="module")
def upgraded(pinned: Told) -> Checked:
    return checked(pinned, SLOW)


@cache
def composed() -> Settings:
    return compose([*TWO_ARMS, *SLOW_DEFAULT])


def settings(pinned: Told, *packages: str, faults: Sequence[Fault] = ()) -> Settings:
    world = composed().world
    assert world is not None
    return replace(composed(), store_url=url_in(pinned.folder), world=replace(with_packages(world, packages), faults=tuple(faults)))


def checked(pinned: Told, *packages: str, faults: Sequence[Fault] = (), confirm: bool = True) -> Checked:
    return check_measured(Request(pin_in(pinned.folder), confirm=confirm), settings(pinned, *packages, faults=faults))


def copied(pinned: Told, folder: Path) -> Path:
    """The pin's path among copies of its files."""
    for file in pin_in(pinned.folder).parent.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder / pin_in(pinned.folder).name


def runs(pinned: Told) -> int:
    return len(list_runs(open_store(url_in(pinned.folder))))


def test_an_upgrade_that_makes_the_pinned_arm_three_times_slower_is_a_regression_confirmed_side_by_side(upgraded: Checked) -> None:
    assert (upgraded.answer, upgraded.exit_code, upgraded.ground) == (Answer.REGRESSED, 1, Ground.SIDE_BY_SIDE)
    assert upgraded.sentence.startswith("flashinfer/p1 takes 3.2 times as long on 3 cells, most on ")
    stored = {row.cell: row.verdict.label.value for row in upgraded.served}
    assert stored == dict.fromkeys([*DECODE, None], "regressed") and upgraded.rivals == ()
    assert upgraded.confirmed is not None
    beside = {(row.arm, row.cell): row.verdict.label.value for row in upgraded.confirmed.rows if row.cell}
    assert {cell for (arm, cell), label in beside.items() if label == "regressed"} == set(DECODE)
    assert {label for (arm, cell), label in beside.items() if arm == "fa3/p1"} == {"equivalent"}


def test_it_names_the_kernel_that_changed_what_would_be_pinned_now_and_the_ways_out(upgraded: Checked) -> None:
    assert {(each.arm, each.cell, each.kernels) for each in upgraded.dispatches} == {
        ("flashinfer/p1", cell, "simulated_flashinfer_decode: other machine code") for cell in DECODE
    }
    assert upgraded.next is not None and (upgraded.next.action, upgraded.next.flags) == (Action.UNSET, ())
    write, hold = upgraded.ways_out
    assert write.startswith("set nothing, by today's rounds: attnpin check --pin ") and write.endswith(" --write")
    assert hold == f"hold {OLD} as the pin was measured"  # a simulated pin is not exported
    assert all(cell in upgraded.scope for cell in DECODE)
    assert upgraded.scope.endswith("nothing is said of other shapes, batches and contexts")


def test_what_nothing_touched_is_not_probed_again_and_is_timed_beside_what_was(pinned: Told, upgraded: Checked) -> None:
    assert upgraded.run is not None
    run = load_run(open_store(url_in(pinned.folder)), upgraded.run)
    assert {trial.arm: trial.probed_in for trial in run.trials} == {"fa3/p1": pinned.pin.run, "flashinfer/p1": None}
    assert all({visit.arm for cell in each.cells for visit in cell.visits} == {"fa3/p1", "flashinfer/p1"} for each in run.race)


def test_the_same_again_and_the_way_back_are_answered_from_what_is_there(pinned: Told, upgraded: Checked) -> None:
    before = runs(pinned)
    assert checked(pinned, SLOW) == upgraded
    back = checked(pinned, OLD)
    assert (back.answer, back.exit_code, back.run) == (Answer.HOLDS, 0, None)
    assert back.sentence == "nothing the pin rests on has changed: it holds as measured"
    assert runs(pinned) == before


def test_the_command_answers_in_one_line_of_json_and_in_the_exit_code(pinned: Told, upgraded: Checked) -> None:
    line = ("check", "--pin", str(pin_in(pinned.folder)), *TWO_ARMS, *SLOW_DEFAULT, f"store.url={url_in(pinned.folder)}")
    form = told(pinned.folder, *line, "gpu.simulated.versions.flashinfer=0.6.1", "--json")
    (data,) = map(json.loads, form.out.splitlines())
    assert form.code == 1 and (data["answer"], data["sentence"], data["run"]) == ("regressed", upgraded.sentence, upgraded.run)


def test_another_version_with_the_same_machine_code_is_equivalent_without_rounds(pinned: Told) -> None:
    found = checked(pinned, NEW_TORCH)
    assert (found.answer, found.exit_code, found.ground) == (Answer.EQUIVALENT, 0, Ground.SAME_CODE)
    assert found.sentence.startswith("same machine code: every call of fa3/p1, flashinfer/p1 launches what it launched")
    run = newest_run(open_store(url_in(pinned.folder)))
    assert run is not None and (run.id, run.rounds) == (found.run, ())
    assert {trial.arm for trial in run.trials} == {"fa3/p1", "flashinfer/p1"}
    assert found.glance is not None and found.glance.arm == "flashinfer/p1"
    assert found.glance.new_us == pytest.approx(found.glance.old_us, rel=0.05)


def test_wrong_answers_of_what_is_served_are_exit_5_and_the_default_is_what_remains(pinned: Told) -> None:
    found = checked(pinned, OTHER, faults=[fault("nans", backend="flashinfer")])
    assert (found.answer, found.exit_code) == (Answer.WRONG, 5)
    assert found.sentence.startswith("flashinfer/p1 on decode-1 was measured when the pin was made and is incorrect now (and ")
    assert found.confirmed is None and found.next is not None and found.next.action is Action.UNSET


def test_a_check_that_was_broken_off_goes_on_where_it_was_and_never_with_the_rounds_of_a_tune(
    pinned: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that is killed costs its round alone; an interruption, nothing."""
    whole, seen = race.run_round, list[int]()

    def interrupted(job, coming, patience):  # type: ignore[no-untyped-def]
        if seen:
            raise KeyboardInterrupt
        seen.append(coming.index)
        whole(job, coming, patience)

    killed = fault("killed", process=3, after_s=13)
    monkeypatch.setattr(rounds, "run_round", interrupted)
    with pytest.raises(KeyboardInterrupt):
        checked(pinned, OTHER, faults=[killed], confirm=False)
    monkeypatch.undo()
    begun = newest_run(open_store(url_in(pinned.folder)))
    found = checked(pinned, OTHER, faults=[killed], confirm=False)
    ended = newest_run(open_store(url_in(pinned.folder)))
    assert begun is not None and ended is not None and (begun.status, ended.status) == ("running", "finished")
    assert begun.id == ended.id == found.run != pinned.pin.run
    assert ended.trials == begun.trials and [each.index for each in ended.race] == [0, 1, 2]
    assert found.exit_code in (0, 3) and found.confirmed is None and {row.cell for row in found.served} == {*DECODE, None}


def test_a_board_of_another_name_is_incomparable_and_nothing_is_measured(pinned: Told) -> None:
    asked, before = settings(pinned), runs(pinned)
    assert asked.world is not None
    other = replace(asked, world=replace(asked.world, board=replace(asked.world.board, name="simulated H20")))
    found = check_measured(Request(pin_in(pinned.folder)), other)
    assert (found.answer, found.exit_code, runs(pinned)) == (Answer.INCOMPARABLE, 3, before)


def test_a_pin_or_evidence_that_somebody_edited_is_refused(pinned: Told, tmp_path: Path) -> None:
    pin = copied(pinned, tmp_path)
    pin.write_text(pin.read_text().replace("decode-attention-backend: flashinfer", "decode-attention-backend: fa3"))
    with pytest.raises(UsageError, match="sets --decode-attention-backend fa3 .*decode-attention-backend flashinfer: somebody edited"):
        check_measured(Request(pin), settings(pinned))
    evidence_path(pin).write_bytes(evidence_path(pin).read_bytes()[:-1] + b"?")
    with pytest.raises(EvidenceError, match="is not the one pin pin.yaml was written with"):
        check_measured(Request(pin), settings(pinned))


def test_a_pin_is_written_anew_from_what_was_measured_and_the_way_back_finds_the_tune(
    pinned: Told, upgraded: Checked, tmp_path: Path
) -> None:
    path, before, old = copied(pinned, tmp_path), runs(pinned), pinned.pin
    found = check_measured(Request(path, renew=True), settings(pinned, SLOW))
    assert found.written and (found.answer, found.run) == (upgraded.answer, upgraded.run)
    assert (read_pin(path).flags, read_pin(path).run) == ((), found.run)
    assert check_measured(Request(path), settings(pinned, SLOW)).answer is Answer.HOLDS
    back = check_measured(Request(path), settings(pinned, OLD))
    assert (back.answer, back.exit_code, back.run) == (Answer.STALE, 3, old.run)
    assert back.next is not None and (back.next.action, dict(back.next.flags)) == (Action.SWITCH, dict(old.flags))
    assert runs(pinned) == before


def test_kernels_that_never_change_are_timed_around_a_run_and_around_its_check_where_that_was_asked_for(tmp_path: Path) -> None:
    """A new torch touches every arm, and none is left to tell what the board moved by."""
    asked = ("backend=[flashinfer]", "engine.attention_backend=flashinfer", "measure.processes=3", "measure.anchors=true")
    made = tuned(tmp_path, *asked)
    assert made.code == 0 and made.run.anchors and all(each.read_us for each in made.run.anchors)
    here = compose([*TWO_ARMS, *asked])
    assert here.world is not None
    later = replace(here, store_url=url_in(tmp_path), world=with_packages(here.world, [NEW_TORCH, OTHER]))
    found = check_measured(Request(pin_in(tmp_path), confirm=False), later)
    now = newest_run(open_store(url_in(tmp_path)))
    assert now is not None and now.id == found.run and now.rounds and now.anchors
    assert any("taken off by kernels that never change alone" in note for note in found.notes)
