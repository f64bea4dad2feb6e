from __future__ import annotations

import pathlib

import pytest

from backends.condition import Installed
from backends.worker.doctor.packages import first_of_each, folders, on_path
from tests.backends.worker.doctor.installing import install


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What stands for sys.path."""
    entries: list[str] = []
    monkeypatch.setattr("sys.path", entries)
    return entries


def found(*names: str) -> list[tuple[str, str]]:
    return [(package.name, package.record.version) for package in on_path(names)]


def test_every_copy_is_told_in_the_order_of_the_path(path: list[str], tmp_path: pathlib.Path) -> None:
    path += [str(install(tmp_path / "a", "Flash_Attn", "2.8", {})), str(install(tmp_path / "b", "flash-attn", "2.7", {}))]
    assert found("flash-attn") == [("flash-attn", "2.8"), ("flash-attn", "2.7")]
    assert [package.record.version for package in first_of_each(on_path(["flash-attn"]))] == ["2.8"]


def test_two_records_in_one_folder_are_two(path: list[str], tmp_path: pathlib.Path) -> None:
    for version in ("0.6.1", "0.6.14"):
        install(tmp_path, "flashinfer-python", version, {})
    path.append(str(tmp_path))
    assert found("flashinfer-python") == [("flashinfer-python", "0.6.1"), ("flashinfer-python", "0.6.14")]


def test_a_star_stands_for_the_rest_of_a_name(path: list[str], tmp_path: pathlib.Path) -> None:
    for name in ("flashinfer-jit-cache", "flashinfer-jit-cache-sm90a", "flashinfer-python"):
        install(tmp_path, name, "0.7.1+cu130", {})
    path.append(str(tmp_path))
    assert found("flashinfer-jit-cache-*") == [("flashinfer-jit-cache-sm90a", "0.7.1+cu130")]


def test_requirements_come_as_they_were_written(path: list[str], tmp_path: pathlib.Path) -> None:
    path.append(str(install(tmp_path, "sglang", "0.5.22", {}, requires=["flashinfer_python[cu13]==0.7.1", "torch==2.14.1"])))
    [package] = on_path(["sglang"])
    assert package.described == Installed("sglang", "0.5.22", str(tmp_path), ("flashinfer_python[cu13]==0.7.1", "torch==2.14.1"))


def test_a_folder_that_is_a_link_to_one_before_it_counts_once(path: list[str], tmp_path: pathlib.Path) -> None:
    lib = install(tmp_path / "lib", "torch", "2.13.0", {})
    (tmp_path / "lib64").symlink_to(lib)
    path += [str(lib), str(tmp_path / "lib64"), str(tmp_path / "gone"), ""]
    assert folders() == (lib.resolve(),) and found("torch") == [("torch", "2.13.0")]


def test_a_record_without_hashes_has_no_files(path: list[str], tmp_path: pathlib.Path) -> None:
    install(tmp_path, "torch", "2.13.0", {"torch/a.py": "1"})
    (tmp_path / "torch-2.13.0.dist-info" / "RECORD").write_text("torch/a.py,,\n../../bin/x,sha256=1,1\n")
    path.append(str(tmp_path))
    assert on_path(["torch"])[0].files == {}
