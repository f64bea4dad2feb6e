"""`attnpin check --packages` on pins in a folder: no GPU, no worker, no network."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backends.simulated.world import MARK
from backends.wire import from_plain
from store.pins.pin_files import write_pin
from store.verdicts.verdict import Status, Verdict
from tests.backends.sglang.asked import made_up
from tests.tuner.image.writing import FORMS, freeze
from tests.tuner.unmeasured.pinned import FA3_STAYS, Pinned, pinned
from tuner import cli

ROOT = Path(__file__).parents[3]
OLD = pinned(sglang="0.5.8", flashinfer_python="0.5.3")
NEW, SET = pinned(), "--decode-attention-backend flashinfer --prefill-attention-backend fa3"


@pytest.fixture
def deploy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with one pin in deploy/."""
    monkeypatch.chdir(tmp_path)
    NEW.written(tmp_path / "deploy" / "pin.yaml")
    return tmp_path / "deploy"


def packages(of: Pinned, form: str = "pip freeze", **versions: str | None) -> str:
    """Their list, in a file of the working directory."""
    Path("packages.txt").write_text(FORMS[form](of.with_(**versions)))
    return "packages.txt"


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = cli.run(["check", *arguments])
    captured = capsys.readouterr()
    return code, captured.out or captured.err


def one(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    return check(capsys, "--pin", "deploy/pin.yaml", "--packages", *arguments)


@pytest.mark.parametrize("form", FORMS)
def test_a_list_in_which_nothing_moved_leaves_with_0(deploy: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = one(capsys, packages(NEW, form))
    assert code == 0
    assert said == (
        "deploy/pin.yaml: unchanged: no distribution that the pin rests on moved: it holds as measured "
        "(contents, driver and variables are in no list of packages, and were not compared)\n"
        f"  pin of made_up_8b on NVIDIA H200, chat traffic: {SET}\n"
        "  flags: prefill fa3, decode flashinfer, page size 1, KV dtype bfloat16, as pinned (attnpin's rules for SGLang 0.5.16)\n"
    )


def test_what_moved_leaves_with_3_and_the_one_command_to_run(deploy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = one(capsys, packages(NEW, sglang="0.5.22", torch="2.12.0", sglang_kernel="0.4.6"))
    assert code == 3
    first, *rest = said.splitlines()
    moved = "sglang, sglang-kernel and torch moved under the pin: whether it still holds needs measuring on NVIDIA H200"
    assert first == f"deploy/pin.yaml: changed: {moved}"
    assert ["torch", "2.11.0", "2.12.0", "fa3/p1,", "flashinfer/p1,", "wave/p1"] in [line.split() for line in rest]
    held = "prefill fa3, decode flashinfer, page size 1, KV dtype bfloat16, as pinned (attnpin's rules for SGLang 0.5.22)"
    assert rest[-2:] == [f"  flags: {held}", "  next: attnpin check --pin deploy/pin.yaml"]


def test_the_command_to_run_for_a_simulated_pin_names_what_it_was_made_on(deploy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without it a check on a real machine refuses the pin."""
    gpu = replace(NEW.pin.valid_for, gpu=f"{MARK}NVIDIA H200")
    typed = "attnpin tune gpu=simulated 'gpu.simulated.factor.fa3.decode=2.8' model=qwen3_8b"
    board = replace(NEW.run.environment.board, name=gpu.gpu)
    run = replace(NEW.run, command=typed, environment=replace(NEW.run.environment, board=board))
    Pinned(replace(NEW.pin, valid_for=gpu), run).written(deploy / "pin.yaml")
    _, said = one(capsys, packages(NEW, sglang="0.5.22", torch="2.12.0", sglang_kernel="0.4.6"))
    assert said.splitlines()[-1] == "  next: attnpin check --pin deploy/pin.yaml gpu=simulated gpu.simulated.factor.fa3.decode=2.8"


def test_a_release_of_the_engine_that_nobody_read_is_said_to_be_unknown(deploy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = one(capsys, packages(NEW, sglang="0.6.3"))
    assert code == 3 and "flags: not to be told, since its rules were read in SGLang 0.5.16, " in said


def test_a_known_bad_release_leaves_with_1_and_ways_out(deploy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    OLD.written(deploy / "pin.yaml")
    code, said = one(capsys, packages(OLD, flashinfer_python="0.6.1"))
    assert code == 1
    assert said.startswith("deploy/pin.yaml: known bad: flashinfer-python 0.6.1 decodes on SM90 with its fa3 kernels")
    assert "    way out: hold flashinfer-python<0.6.0, or take flashinfer-python>=0.6.4\n" in said
    assert "    source: https://github.com/sgl-project/sglang/issues/17411\n" in said


def test_of_several_pins_each_has_its_line_and_the_gravest_answer_is_the_exit_code(
    deploy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    OLD.written(deploy / "old" / "pin.yaml")
    pinned(FA3_STAYS).written(deploy / "unset.yaml")
    code, said = check(capsys, "--pins", "deploy", "--packages", packages(NEW, sglang="0.5.8", flashinfer_python="0.6.1"), "--json")
    assert code == 1
    verdicts = {verdict.pin: verdict for verdict in (from_plain(Verdict, json.loads(line)) for line in said.splitlines())}
    assert {name: verdict.status for name, verdict in verdicts.items()} == {
        "deploy/old/pin.yaml": Status.KNOWN_BAD,
        "deploy/pin.yaml": Status.KNOWN_BAD,
        "deploy/unset.yaml": Status.CHANGED,
    }


def test_a_pin_that_cannot_be_read_hides_no_other_and_leaves_with_2(deploy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    OLD.written(deploy / "broken.yaml")
    (deploy / "broken.evidence.jsonl.zst").unlink()
    code, said = check(capsys, "--pins", "deploy", "--packages", packages(NEW, flashinfer_python="0.6.13"))
    assert code == 2
    assert "deploy/broken.yaml: unreadable: evidence broken.evidence.jsonl.zst of pin broken.yaml cannot be read" in said
    assert "deploy/pin.yaml: known bad: flashinfer-python 0.6.13 was taken back" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--pin", "deploy/pin.yaml", "--packages", "nowhere.txt"], "--packages nowhere.txt cannot be read (No such file or directory)"),
        (["--pin", "deploy/nowhere.yaml", "--packages", "packages.txt"], "pin deploy/nowhere.yaml cannot be read"),
        (["--pins", "nowhere", "--packages", "packages.txt"], "--pins nowhere is no folder"),
        (["--pin", "deploy/pin.yaml", "--pins", "deploy", "--packages", "packages.txt"], "names one pin and --pins deploy a folder"),
        (["--pin", "deploy/pin.yaml", "--packages", "packages.txt", "--json", "--md"], "--json and --md are two forms of one answer"),
        (["--pin", "deploy/pin.yaml", "--packages", "other.txt"], "hold none of the distributions that the pin rests on"),
    ],
)
def test_what_cannot_be_answered_is_one_sentence_and_2(
    deploy: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    packages(NEW)
    Path("other.txt").write_text("requests==2.33.0\n")
    code, text = check(capsys, *arguments)
    assert code == 2 and said in text and text.count("\n") == 1


def test_the_list_may_come_from_a_pipe_and_the_answer_in_time(deploy: Path) -> None:
    """Processor seconds, which a busy machine does not change much; neither torch nor Hydra is imported."""
    loaded = "print([name for name in ('torch', 'hydra', 'sqlalchemy') if name in sys.modules], file=sys.stderr)"
    program = f"import atexit, sys; from tuner.__main__ import main; atexit.register(lambda: {loaded}); main()"
    command = [sys.executable, "-P", "-c", program, "check", "--pin", "deploy/pin.yaml", "--packages", "-"]

    def seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        text = freeze(NEW.with_(flashinfer_python="0.7.1"))
        done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, input=text, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (3, "[]\n")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    assert any(seconds() < 1.0 for _ in range(3))


def decided_for(path: Path, flag: tuple[str, str]) -> None:
    """A pin of ``flag``, and a run that decided for it."""
    assert NEW.run.decision is not None
    run = replace(NEW.run, decision=replace(NEW.run.decision, flags=(flag,)))
    write_pin(path, replace(NEW.pin, flags=(flag,), because=()), "# a pin\n", run)


def asked(deploy: Path, capsys: pytest.CaptureFixture[str], layout: str, flag: tuple[str, str], **versions: str) -> tuple[int, str]:
    """A pin of ``flag``, and a small stand-in for SGLang behind engine.path, which serves a page a GB of memory."""
    decided_for(deploy / "pin.yaml", flag)
    folder = made_up.write(deploy.parent / "new", layout, "0.5.99")[0]
    return one(capsys, packages(NEW, **versions), f"engine.path=[{folder}]", "gpu=h200")


def test_the_new_engine_is_asked_for_the_pins_gpu_though_none_is_here(deploy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = asked(deploy, capsys, "0.5.22", ("attention-backend", "triton"), sglang="0.5.99")
    assert code == 1
    own = "triton, page size 143, KV dtype bfloat16"
    assert f"refused: --attention-backend triton comes to {own} instead of prefill fa3, decode flashinfer, page size 1" in said
    assert "by SGLang 0.5.99 itself (simulated NVIDIA H200)" in said


def test_a_flag_that_the_new_engines_parser_refuses_leaves_with_1(deploy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = asked(deploy, capsys, "0.5.22", ("attention-backend", "fa4"))  # though no version moved
    assert code == 1
    assert "refused: --attention-backend fa4 would not start, by SGLang 0.5.99 itself (simulated NVIDIA H200): " in said
    assert "invalid choice: 'fa4'" in said


def test_an_engine_that_cannot_be_asked_leaves_it_to_the_rules(deploy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = asked(deploy, capsys, "unknown", ("attention-backend", "triton"), sglang="0.5.22")
    assert code == 3 and "SGLang itself was not asked: it resolves its arguments in a way that attnpin does not know" in said


def test_where_the_environment_can_be_started_its_engine_is_asked_once_something_moved(
    deploy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    decided_for(deploy / "pin.yaml", ("attention-backend", "fa4"))
    NEW.written(deploy / "other.yaml")
    folder = made_up.write(deploy.parent / "new", "0.5.22", "0.5.99")[0]
    code, said = check(capsys, "--pins", "deploy", "--fast", f"engine.path=[{folder}]", "gpu=h200")
    assert code == 1
    assert "deploy/pin.yaml: refused: --attention-backend fa4 would not start, by SGLang 0.5.99 itself (simulated NVIDIA H200)" in said
    assert "deploy/other.yaml: " in said and "0.5.99" in said


def test_constraints_of_a_pin_hold_what_a_list_is_compared_with(deploy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["export", "--pin", "deploy/pin.yaml", "--to", "constraints"]) == 0
    Path("packages.txt").write_text(capsys.readouterr().out)
    assert one(capsys, "packages.txt")[0] == 0


def test_more_about_packages_may_be_known_to_a_site(deploy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = deploy / "known"
    known.mkdir()
    entry: dict[str, Any] = {
        "distribution": "triton",
        "versions": "==3.7.0",
        "what": "our kernels hang",
        "instead": "3.7.1",
        "source": "our wiki",
    }
    (known / "releases.yaml").write_text(f"- {json.dumps(entry)}\n")
    code, said = one(capsys, packages(NEW, triton="3.7.0"), "--config-dir", "deploy")
    assert code == 1 and "triton 3.7.0 was taken back" in said and "install 3.7.1" in said
