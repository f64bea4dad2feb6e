"""A command line that cannot be understood is answered in the words of the command that was typed."""

from __future__ import annotations

import re

import pytest

from tuner import cli
from tuner.command_line.boundary import guarded

WITH_OVERRIDES = ("plan", "audit", "calibrate", "limits", "doctor", "contribute")  # of others tests/tuner/test_cli.py has one


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_an_option_that_is_none_points_to_the_help_of_its_own_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert set(re.findall(r"attnpin [^`]*--help", refused([command, "--nosuch"], capsys))) == {f"attnpin {command} --help"}


def test_a_command_inside_another_is_named_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert "`attnpin db export --help`" in refused(["db", "export", "--nosuch"], capsys)
    assert "`attnpin --help`" in refused(["nosuch"], capsys)


@pytest.mark.parametrize(
    "words", [["report", "--html"], ["check", "--pin"], ["tune", "--pin"], ["tune", "--config-dir"], ["db", "export", "x", "--config-dir"]]
)
def test_an_option_without_its_value_points_to_the_help_of_its_own_command(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(words, capsys)
    command = " ".join(words[: 1 + (words[0] == "db")])
    assert re.findall(r"attnpin [^`]*--help", said) == [f"attnpin {command} --help"] and words[-1] in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["calibrate", "--processes", "1"], "Invalid value '1' for '--processes': Input should be greater than or equal to 2"),
        (["calibrate", "--slowed=3"], "Invalid value '3' for '--slowed': Input should be less than or equal to 1"),
        (["confirm", "--pin", "p", "--each", "no", "--", "x"], "Invalid value 'no' for '--each': Input should be a valid integer"),
        (["compare", "--candidate", "present", "--tuning", "pinnd"], "Invalid value 'pinnd' for '--tuning': 'pinnd' is not one of "),
    ],
)
def test_a_value_that_an_option_does_not_take_is_named(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(words, capsys).startswith(f"attnpin: {said}")


@pytest.mark.parametrize("command", WITH_OVERRIDES)
def test_a_slip_in_an_override_is_told_the_right_key_and_no_other_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused([command, "modle=tiny"], capsys)
    assert said == "attnpin: There is no setting or group named 'modle'; did you mean model?\n"


def test_a_setting_that_has_another_name_now_is_told_it(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(["plan", "model=tiny", "measure.timing.trial_limit_s=60"], capsys)
    assert said == "attnpin: 'measure.timing.trial_limit_s' is patience.timing now, with a unit: patience.timing=90s\n"


def test_a_model_that_is_none_is_told_all_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(["plan", "model=nosuch"], capsys)
    assert "There is no model named 'nosuch'; choose one of deepseek_v3, " in said and "tiny" in said and "attnpin tune" not in said


def test_a_key_like_no_other_is_told_where_all_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert "`attnpin tune --cfg job` prints every setting" in refused(["plan", "xyzzy=1"], capsys)


@pytest.mark.parametrize(
    "command", ["check --pin pin.yaml", "calibrate", "audit", "compare --candidate triton==3.6.0", "bisect triton 3.5.0 3.6.0"]
)
def test_a_command_that_measures_here_is_not_begun_where_another_executor_is_asked_for(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [*command.split(), "model=qwen3_8b", "gpu=simulated", "executor=slurm"]
    assert guarded(lambda: cli.run(asked), debug=False) == 2
    assert "executor=slurm is attnpin tune's; this command measures on this machine alone" in capsys.readouterr().err
