"""What a history says of drifts, of sittings and of what cannot be compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.environment import Board
from reports.course import headline, render_json, render_text
from store.past.course import Course, How
from store.verdicts.comparison import Label
from tests.store.building import environment
from tests.tuner.past.made import ARM, point, points
from tuner.errors import UsageError
from tuner.past.course import course_of
from tuner.past.what_ran import code_of

DRIFT = [100 / 0.98**step for step in range(6)]  # a17: five releases, each two percent less work in the same time


def course(made: list, over: str | None = None) -> Course:  # type: ignore[type-arg]
    return course_of(ARM.name, "decode_0", made, over)


def labels(found: Course) -> list[Label | None]:
    return [step.verdict.label if step.verdict else None for step in found.steps]


def test_a17_five_steps_that_are_each_below_the_alarm_are_a_regression_against_the_first() -> None:
    found = course(points(DRIFT))
    assert labels(found)[-1] is Label.REGRESSED and found.exit_code == 1
    assert Label.REGRESSED not in labels(course(points(DRIFT[:2])))
    line = headline(found)
    assert line.startswith(f"regressed: {ARM.name} on decode_0 is 11 % slower (9.6 % less work in the same time) since the first point")
    assert "no single step was more than 2." in line and "with flashinfer-python 0.6.1, 1" in line


def test_what_stays_as_it_was_is_never_called_regressed_and_one_point_is_its_own_baseline() -> None:
    assert not {Label.REGRESSED, Label.IMPROVED} & set(labels(course(points([100.0] * 8))))
    alone = course(points([100.0]))
    assert alone.exit_code == 0 and alone.steps[0].how is How.FIRST
    assert "one point alone" in headline(alone) and "nothing to hold it against yet" in render_text([alone])


@pytest.mark.parametrize(("factor", "label", "code"), [(1.0, Label.EQUIVALENT, 0), (1.05, Label.REGRESSED, 1), (0.95, Label.IMPROVED, 0)])
def test_a_comparison_with_the_firsts_own_code_judges_by_its_pairs(factor: float, label: Label, code: int) -> None:
    """5 % slower is too little against stored times; the whole second sitting is 4 % slower, which is of no consequence."""
    first, old, new = point("r1", "0.6.1", 100.0, 1), point("r2", "0.6.1", 104.0, 2, "c"), point("r3", "0.6.2", 104.0 * factor, 2, "c")
    found = course([first, old, new])
    assert [step.how for step in found.steps] == [How.FIRST, How.STORED, How.SIDE_BY_SIDE]
    assert labels(found)[-1] is label and found.exit_code == code
    assert found.steps[-1].ratio == pytest.approx(factor, rel=0.005)


def test_the_same_change_between_two_sittings_alone_is_only_suspect() -> None:
    found = course([point("r1", "0.6.1", 100.0, 1), point("r3", "0.6.2", 105.0, 2)])
    assert labels(found)[-1] is Label.SUSPECT and found.exit_code == 3


def test_other_boards_cells_and_protocols_are_counted_and_left_out() -> None:
    kept = points([100.0, 100.0])
    board = kept[0].environment.board
    other = replace(kept[0].environment, board=Board(**{**vars(board), "uuid": "GPU-beef"}))
    strangers = [
        replace(kept[0], environment=other, run="board"),
        replace(kept[0], cell_digest="other", run="cell"),
        replace(kept[0], protocol=1, run="protocol"),
        replace(kept[0], model="tiny", run="model"),
    ]
    found = course([*strangers, *kept])
    assert [step.point.run for step in found.steps] == ["r1", "r2"]
    assert any(note.startswith("4 more of that name are of another board") for note in found.notes)


def test_too_few_processes_and_another_clock_are_not_comparable_and_say_why() -> None:
    first, second = points([100.0, 150.0])
    few = course([first, replace(second, processes=second.processes[:2])])
    assert few.steps[-1].how is How.NOT and "2 processes on one side" in (few.steps[-1].why_not or "") and few.exit_code == 3
    capped = course([first, replace(second, capped=True)])
    assert "power cap" in render_text([capped]) and headline(capped).startswith("not comparable: ")


def test_points_stand_by_date_or_by_the_version_of_a_distribution() -> None:
    made = [point("a", "0.6.10", 100.0, 3), point("b", "0.6.9", 100.0, 2), point("c", "0.5.3", 100.0, 4)]
    assert [step.point.run for step in course(made).steps] == ["b", "a", "c"]
    assert [step.point.run for step in course(made, "flashinfer-python").steps] == ["c", "b", "a"]
    with pytest.raises(UsageError, match="run a had no triton; --over takes a distribution that every run had"):
        course(made, "triton")


def test_two_versions_of_which_no_contents_are_known_are_not_one_code() -> None:
    old, new = (point(f"r{day}", f"0.6.{day}", 100.0, day) for day in (1, 2))
    flashinfer, *others = new.environment.distributions
    same_digest = replace(flashinfer, digest=old.environment.distributions[0].digest)
    assert code_of(replace(new, environment=replace(new.environment, distributions=(same_digest, *others)))) != code_of(old)


def test_what_ran_names_what_sets_points_apart_alone() -> None:
    same = course(points([100.0, 100.0], alike=True))
    assert [step.ran for step in same.steps] == [(("flashinfer-python", "0.6.0"),)] * 2
    engine = [replace(each, engine_version=version) for each, version in zip(points([100.0, 100.0], alike=True), ("0.5.8", "0.5.9"))]
    assert [step.ran for step in course(engine).steps] == [(("sglang", "0.5.8"),), (("sglang", "0.5.9"),)]


def test_a_change_is_dated_from_ten_points_on() -> None:
    few, many = course(points([100.0] * 5 + [120.0] * 4)), course(points([100.0] * 6 + [120.0] * 6))
    assert few.changes is None and "too few points (9) to say when something changed" in render_text([few])
    assert many.changes is not None and [change.at for change in many.changes] == [6]
    assert "20 % slower between 2026-01-06 (flashinfer-python 0.6.6) and 2026-01-07 (flashinfer-python 0.6.7)" in render_text([many])
    assert '"changes": null' in render_json([few])


def test_held_against_a_pin_s_own_run_what_came_before_it_is_left_out_and_said() -> None:
    made = points([100.0, 120.0, 121.0, 119.5])
    found = course_of(ARM.name, "decode_0", made, first="r2")
    assert [step.point.run for step in found.steps] == ["r2", "r3", "r4"] and found.steps[0].how is How.FIRST
    assert found.exit_code != 1 and course(made).exit_code == 1
    assert "1 more of that name stand before the pin's own run, which is the baseline" in found.notes


def test_held_against_a_pin_it_is_the_pin_s_board_that_counts_and_not_the_newest_one() -> None:
    board = replace(environment("0.6.9").board, uuid="GPU-other")
    elsewhere = point("r9", "0.6.9", 50.0, 9, environment=replace(environment("0.6.9"), board=board))
    made = [*points([100.0, 101.0]), elsewhere]
    assert [step.point.run for step in course_of(ARM.name, "decode_0", made, first="r1").steps] == ["r1", "r2"]
    assert [step.point.run for step in course(made).steps] == ["r9"]
