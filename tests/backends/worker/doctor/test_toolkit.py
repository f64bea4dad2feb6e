from __future__ import annotations

import pathlib

import pytest

from backends.condition import Toolkit
from backends.worker.doctor import toolkit

SAYS_13 = "#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V13.0.88'\n"


def laid(home: pathlib.Path, nvcc: str = SAYS_13, headers: bool = True) -> pathlib.Path:
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "nvcc").write_text(nvcc)
    (home / "bin" / "nvcc").chmod(0o755)
    if headers:
        (home / "include").mkdir()
        (home / "include" / "cuda_runtime.h").touch()
    return home


def test_cuda_home_goes_before_the_nvcc_on_the_path(tmp_path: pathlib.Path) -> None:
    named, other = laid(tmp_path / "named"), laid(tmp_path / "other", nvcc="#!/bin/sh\necho release 12.9,\n")
    environ = {"CUDA_HOME": str(named), "PATH": str(other / "bin")}
    assert toolkit.found(environ) == Toolkit(str(named), "13.0", True)
    assert toolkit.found({"PATH": str(other / "bin")}) == Toolkit(str(other), "12.9", True)


def test_a_link_to_nvcc_leads_to_a_folder_without_headers(tmp_path: pathlib.Path) -> None:
    whole, bare = laid(tmp_path / "cuda-13.0"), tmp_path / "local"
    (bare / "bin").mkdir(parents=True)
    (bare / "bin" / "nvcc").symlink_to(whole / "bin" / "nvcc")
    assert toolkit.found({"PATH": str(bare / "bin")}) == Toolkit(str(bare), "13.0", False)


def test_the_usual_place_comes_last(tmp_path: pathlib.Path) -> None:
    usual = laid(tmp_path / "cuda", headers=False)
    assert toolkit.found({"PATH": ""}, usual) == Toolkit(str(usual), "13.0", False)
    assert toolkit.found({"PATH": ""}, tmp_path / "nowhere") is None


@pytest.mark.parametrize("nvcc", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\necho something else\n", "no program\n"])
def test_an_nvcc_that_does_not_tell_has_no_version(tmp_path: pathlib.Path, nvcc: str) -> None:
    home = laid(tmp_path / "cuda", nvcc=nvcc)
    assert toolkit.found({"CUDA_HOME": str(home)}) == Toolkit(str(home), None, True)


def test_a_named_home_without_nvcc_is_told_all_the_same(tmp_path: pathlib.Path) -> None:
    assert toolkit.found({"CUDA_PATH": str(tmp_path / "gone")}) == Toolkit(str(tmp_path / "gone"), None, False)


def test_tools_are_those_on_the_path(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ninja").write_text("#!/bin/sh\n")
    (tmp_path / "ninja").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert toolkit.tools() == ("ninja",)
