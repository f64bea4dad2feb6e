from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tuner.sweep.scripted import Scripted
from tuner import cli
from tuner.cli import run, without_debug
from tuner.commands import measuring
from tuner.executors.executor import Done
from tuner.sweep import asked

ROOT = Path(__file__).parents[2]
FEW = "backend=[torch_native]"  # `tune` hands all of its line to Hydra, which merges one backend faster than all
COMMAND = (sys.executable, "-P", "-m", "tuner")


def attnpin(*arguments: str, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    return subprocess.run([*COMMAND, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, timeout=60)


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The settings `tune` was called with, instead of the job; it ends well."""
    seen: list[object] = []
    monkeypatch.setattr(measuring, "tune_with", lambda settings: seen.append(settings) or 0)
    return seen


CPU_BUDGETS_S = [(["--help"], 0.6), (["tune", "--help"], 1.2), (["plan", "model=qwen3_8b", "gpu=h200"], 1.5), (["limits"], 1.5)]


def test_help_names_every_command(capsys):
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"\n  {name} " in text for name in cli.COMMANDS)


@pytest.mark.parametrize(("arguments", "budget_s"), CPU_BUDGETS_S)
def test_help_plan_and_limits_come_in_time(arguments, budget_s):
    """Processor seconds, which a busy machine does not change much; tests/bench/startup.py prints wall time."""

    def seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert attnpin(*arguments).returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    assert any(seconds() < budget_s for _ in range(3))


def test_help_imports_neither_hydra_nor_sqlalchemy_nor_torch():
    loaded = "print([m for m in ('hydra', 'sqlalchemy', 'torch', 'scipy') if m in sys.modules])"
    code = f"import sys; from tuner.cli import run; run(['--help']); {loaded}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_no_command_shows_the_help(capsys):
    assert run([]) == 0
    assert "Usage: attnpin" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["plna"], "Did you mean 'plan'"), (["plan", "--jsn"], "--json"), (["export"], "--to"), (["tune", "--multirn"], "--multirun")],
)
def test_a_wrong_command_or_option_is_a_usage_error_with_a_hint(arguments, said, capsys):
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert said in captured.err and captured.out == ""


@pytest.mark.parametrize("command", ["plan", "tune", "check --fast", "report", "history", "export --to sglang"])
def test_a_typo_in_an_override_leaves_with_2_from_every_command(command, capsys):
    assert run([*command.split(), "model=qwen3_8"]) == 2
    assert "did you mean qwen3_8b?" in capsys.readouterr().err


def test_tune_is_given_the_settings_of_its_overrides(jobs):
    assert run(["tune", FEW, "model=qwen3_8b", "gpu=h200", "engine.tensor_parallel=4"]) == 0
    assert (jobs[0].scenario.model.name, jobs[0].scenario.engine.tensor_parallel) == ("qwen3_8b", 4)


@pytest.mark.parametrize(
    "arguments",
    [
        f"--fresh --pin a.yaml gpu=h200 {FEW} --debug",
        f"gpu=h200 {FEW} --fresh --debug --pin a.yaml",
        f"--debug --fresh gpu=h200 {FEW} --pin=a.yaml",
    ],
)
def test_options_of_tune_may_stand_anywhere(arguments, jobs):
    assert run(["tune", *arguments.split()]) == 0
    assert (jobs[0].fresh, jobs[0].pin_path, jobs[0].scenario.gpu.name) == (True, Path("a.yaml"), "NVIDIA H200")


def test_a_pin_path_reaches_tune_as_it_was_written(jobs):
    assert run(["tune", FEW, "--pin", "it's a = {path}/pin.yaml"]) == 0
    assert jobs[0].pin_path == Path("it's a = {path}/pin.yaml")


def test_without_default_must_be_asked_for(jobs):
    run(["tune", FEW])
    run(["tune", "--without-default", FEW])
    assert [settings.without_default for settings in jobs] == [False, True]


def test_hydra_shows_the_configuration_and_runs_nothing(jobs, capsys):
    assert run(["tune", "--cfg", "job", FEW, "model=qwen3_8b", "-p", "model"]) == 0
    assert "name: qwen3_8b" in capsys.readouterr().out and jobs == []


def test_hydra_shows_where_it_looks():
    done = attnpin("tune", "model=qwen3_8b", FEW, "--info", "searchpath")  # in a process of its own: it turns debug logging on
    assert done.returncode == 0 and "pkg://conf" in done.stdout


def test_the_help_of_tune_lists_groups_and_options(capsys):
    assert run(["tune", "--help"]) == 0
    text = capsys.readouterr().out
    assert "traffic: agent_coding, batch_offline, chat" in text and "--fresh" in text and "--multirun" in text


@pytest.fixture
def swept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Scripted:
    """What runs the scenarios of a sweep; it is begun in an empty folder."""
    executor = Scripted()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(asked, "executor_of", lambda settings, again: executor)
    return executor


def test_multirun_runs_every_combination(swept):
    assert run(["tune", "--multirun", FEW, "gpu=h200", "traffic=chat,rag"]) == 0
    assert [task.overrides[:-1] for task in swept.ran] == [(FEW, "gpu=h200", f"traffic={name}") for name in ("chat", "rag")]


def test_a_file_of_scenarios_is_a_sweep_of_its_own(swept, tmp_path):
    (tmp_path / "fleet.yaml").write_text("- traffic=chat\n- traffic=rag --fresh\n")
    assert run(["tune", FEW, "gpu=h200", "scenarios=fleet.yaml", "--pin", "p.yaml"]) == 2
    (tmp_path / "fleet.yaml").write_text("- traffic=chat\n- traffic=rag\n")
    assert run(["tune", FEW, "gpu=h200", "scenarios=fleet.yaml"]) == 0
    assert [task.name for task in swept.ran] == ["traffic=chat", "traffic=rag"]


def test_the_gravest_exit_code_of_a_multirun_counts_and_the_others_still_run(swept, capsys):
    swept.ends = {"traffic=rag": Done(4, None, "too hot")}
    assert run(["tune", "-m", FEW, "gpu=h200", "traffic=chat,rag,nosuch,single_user"]) == 4
    assert [task.name for task in swept.ran] == ["traffic=chat", "traffic=rag", "traffic=single_user"]
    assert "There is no traffic named 'nosuch'" in capsys.readouterr().out


def test_a_sweep_in_which_nothing_can_be_begun_is_one_sentence(swept, tmp_path, capsys):
    assert run(["tune", "-m", FEW, "gpu=h200", "modle.name=a,b"]) == 2
    assert "There is no setting or group named 'modle" in capsys.readouterr().err and list(tmp_path.iterdir()) == []


def test_a_sweeper_or_launcher_of_hydra_s_is_left_to_hydra(jobs, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert run(["tune", "-m", FEW, "gpu=h200", "hydra/launcher=basic", "traffic=chat,rag"]) == 0
    assert [settings.scenario.traffic.name for settings in jobs] == ["chat", "rag"]


def test_a_folder_of_groups_is_searched(jobs, tmp_path):
    (tmp_path / "traffic").mkdir()
    ours = (ROOT / "conf" / "traffic" / "chat.yaml").read_text()
    (tmp_path / "traffic" / "ours.yaml").write_text(ours.replace("name: chat", "name: ours"))
    assert run(["tune", FEW, "traffic=ours", "--config-dir", str(tmp_path)]) == 0
    assert jobs[0].scenario.traffic.name == "ours"


def test_the_working_directory_stays_clean(jobs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path.parent))
    run(["tune", "gpu=h200", FEW])
    assert len(jobs) == 1 and list(tmp_path.iterdir()) == []


def test_of_a_sweep_only_its_results_are_left(swept, tmp_path):
    run(["tune", "-m", FEW, "gpu=h200,l4"])
    assert [task.overrides[-2] for task in swept.ran] == [f"pin.path='pins/tiny-chat-gpu-{name}/pin.yaml'" for name in ("h200", "l4")]
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == ["pins", "pins/index.html", "pins/index.json"]


def test_debug_after_a_bare_dash_dash_belongs_to_the_command_behind_it():
    assert without_debug(["launch", "--debug", "--", "serve", "--debug"]) == (True, ["launch", "--", "serve", "--debug"])
    assert without_debug(["plan"]) == (False, ["plan"])


@pytest.mark.parametrize(("option", "where"), [(["--write", "--fast"], "--fast"), (["--wheels", "w", "--packages", "p.txt"], "--packages")])
def test_what_is_for_a_check_that_measures_is_refused_where_nothing_is_measured(option, where, capsys):
    assert run(["check", "--pin", "x.yaml", *option]) == 2
    assert capsys.readouterr().err == f"attnpin: {option[0]} is for a check that measures; leave {where} out\n"


@pytest.mark.parametrize("command", ["report", "history"])
def test_looking_for_a_run_creates_no_database(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run([command]) == 2
    assert "There is no database attnpin.db" in capsys.readouterr().err and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [["export", "--to", "sglang"], ["report"], ["check", "--fast"]])
def test_a_pin_that_is_not_there_is_named(arguments, capsys):
    assert run([*arguments, "--pin", "/nowhere/pin.yaml"]) == 2
    assert "/nowhere/pin.yaml" in capsys.readouterr().err


def test_a_plan_s_tree_is_drawn_alone_as_text_or_data(capsys):
    assert run(["plan", "--tree", "model=qwen3_8b", "gpu=h200", FEW]) == 0
    drawn = capsys.readouterr().out
    assert drawn.startswith("SGLang 0.5.22's default tree") and "Would be measured" not in drawn
    assert [line.split()[-1] for line in drawn.splitlines() if line.startswith("  yes")] == ["fa3"]
    assert run(["plan", "--tree", "--json", "model=qwen3_8b", "gpu=h200", FEW]) == 0
    assert json.loads(capsys.readouterr().out)["path"][0]["rule"] == "default.mha.hopper"


@pytest.mark.parametrize("closed", ["<&- >&-", ">&- 2>&-"])
def test_a_closed_stream_is_the_null_device_and_the_exit_code_stays(closed: str) -> None:
    command = f'"{sys.executable}" -P -m tuner export --pin examples/qwen3_8b-h200/pin.yaml --to json {closed}'
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "") and "A fault in attnpin" not in done.stderr
