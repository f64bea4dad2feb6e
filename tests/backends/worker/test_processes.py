from __future__ import annotations

import os
import pathlib
import shutil
import subprocess

import pytest

from backends.worker.processes import compiler_below, descendants, is_compiler


@pytest.mark.parametrize("name", ["nvcc", "cicc", "ptxas", "ptxas-blackwell", "cc1plus", "clang++-18", "ld", "x86_64-linux-gn", "ninja"])
def test_compilers_are_known_by_the_name_the_kernel_shows(name: str) -> None:
    assert is_compiler(name)


@pytest.mark.parametrize("name", ["python3", "ldconfig", "assemble", "sglang", "bash"])
def test_other_programs_are_no_compilers(name: str) -> None:
    assert not is_compiler(name)


def test_a_compiler_is_found_below_a_shell_even_with_a_name_that_confuses(tmp_path: pathlib.Path) -> None:
    sleep = str(shutil.which("sleep"))
    shell, compiler = tmp_path / "a) (b", tmp_path / "cc1plus"
    shutil.copy("/bin/sh", shell)
    shutil.copy(sleep, compiler)
    around = ["/bin/sh", "-c", '"$1" -c "echo; $2 60; echo"; true', "-", shell, compiler]
    with subprocess.Popen(around, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stdout.readline() == b"\n"
        while compiler_below(child.pid) is None:
            pass  # the test's own time limit ends this
        assert sorted(descendants(child.pid).values()) == ["a) (b", "cc1plus"]
        for pid in descendants(child.pid):
            os.kill(pid, 9)
