"""`attnpin doctor` on this machine, with and without something wrong."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.backends.worker.doctor.installing import install
from tuner import cli

ROOT = Path(__file__).parents[2]
SECONDS = 3.0


def overlaid(folder: Path) -> str:
    return f"engine.path=[{folder}]"


def rules(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    return {finding["rule"]: finding["severity"] for finding in json.loads(capsys.readouterr().out)["findings"]}


def test_this_machine_is_examined_within_three_seconds() -> None:
    """Processor seconds of the command and its worker, which a busy machine does not change much."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-P", "-m", "tuner", "doctor"]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode in (0, 2, 3), done.stderr
    assert "\nMachine\n" in done.stdout and "\n  torch " in done.stdout and len(done.stdout.splitlines()) < 80
    assert after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime < SECONDS


def test_packages_that_do_not_match_end_with_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(tmp_path, "flashinfer-python", "0.6.10", {"flashinfer/__init__.py": ""})
    install(tmp_path, "flashinfer-cubin", "0.6.8.post1", {"flashinfer_cubin/__init__.py": ""})
    assert cli.run(["doctor", overlaid(tmp_path)]) == 2
    text = capsys.readouterr().out
    assert "mend the faults before measuring" in text.splitlines()[0]
    assert "fault: flashinfer-python is 0.6.10 and flashinfer-cubin is 0.6.8.post1\n" in text


def test_a_withdrawn_release_ends_with_exit_code_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(tmp_path, "flashinfer-python", "0.6.15", {"flashinfer/__init__.py": ""})
    code = cli.run(["doctor", "--json", overlaid(tmp_path)])
    found = rules(capsys)
    assert found["version-withdrawn"] == "warning" and code == (2 if "fault" in found.values() else 3)


def test_a_switch_of_the_workers_environment_is_seen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLASHINFER_DISABLE_VERSION_CHECK", "1")
    monkeypatch.setenv("SGLANG_USE_SGL_FA3_KERNEL", "0")
    install(tmp_path, "flashinfer-python", "0.6.16", {"flashinfer/__init__.py": ""})
    cli.run(["doctor", "--json", overlaid(tmp_path)])
    assert {"version-check-disabled", "variable-changes-kernels"} <= set(rules(capsys))


def test_what_a_site_knows_is_applied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(tmp_path / "overlay", "our-kernels", "1.0", {"ours/__init__.py": ""})
    (tmp_path / "conf" / "known").mkdir(parents=True)
    (tmp_path / "conf" / "known" / "distributions.yaml").write_text("our-kernels: {imports: [ours]}\n")
    (tmp_path / "conf" / "known" / "releases.yaml").write_text(
        "- {distribution: our-kernels, versions: '<2', what: slow, instead: '2', source: our wiki}\n"
    )
    cli.run(["doctor", "--config-dir", str(tmp_path / "conf"), overlaid(tmp_path / "overlay")])
    assert "warning: our-kernels 1.0 was taken back\n  why: slow\n  do: install 2," in capsys.readouterr().out


def test_a_folder_that_is_not_there_is_the_users_to_correct(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["doctor", "engine.path=[/no/such/folder]"]) == 2
    assert "engine.path names /no/such/folder, which is no folder where the worker runs" in capsys.readouterr().err


def test_a_python_that_does_not_start_is_the_users_to_correct(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["doctor", "engine.command=[/no/such/python]"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("attnpin: engine.command=/no/such/python")


def test_a_plan_that_asks_a_worker_says_what_can_spoil_a_measurement_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(tmp_path, "flashinfer-python", "0.6.10", {"flashinfer/__init__.py": ""})
    install(tmp_path, "flashinfer-cubin", "0.6.8.post1", {"flashinfer_cubin/__init__.py": ""})
    assert cli.run(["plan", "model=qwen3_8b", "gpu=h200", overlaid(tmp_path)]) == 0
    assert "flashinfer-python is 0.6.10 and flashinfer-cubin is 0.6.8.post1: FlashInfer refuses to be imported" in capsys.readouterr().out
