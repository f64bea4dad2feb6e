from __future__ import annotations

import os
import pathlib

import pytest

from backends.worker import caches
from backends.worker.caches import Places, arrange, link


@pytest.fixture
def image(tmp_path: pathlib.Path) -> pathlib.Path:
    """The home of an image that was warmed up: an entry of Triton's cache, a module of FlashInfer's."""
    home = tmp_path / "root"
    for file in (".triton/cache/ABC/kernel.cubin", ".triton/cache/ABC/lock", ".triton/cache/tmp.pid_1/kernel.cubin"):
        _write(home / file)
    _write(home / ".cache/flashinfer/0.6.14/90a/cached_ops/decode/decode.so")
    return home


def _write(file: pathlib.Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(file.name)


def _files(folder: pathlib.Path) -> dict[str, str]:
    return {file.relative_to(folder).as_posix(): file.read_text() for file in folder.rglob("*") if file.is_file()}


def test_triton_reads_the_images_entries_from_a_folder_of_ours(image: pathlib.Path, tmp_path: pathlib.Path) -> None:
    environ = {"HOME": str(image)}
    places = arrange(environ, tmp_path / "own")
    assert environ["TRITON_CACHE_DIR"] == str(tmp_path / "own" / "triton_cache_dir")
    assert _files(pathlib.Path(environ["TRITON_CACHE_DIR"])) == {"ABC/kernel.cubin": "kernel.cubin"}
    assert image / ".triton/cache" in places.theirs


def test_what_is_written_over_an_entry_does_not_reach_the_image(image: pathlib.Path, tmp_path: pathlib.Path) -> None:
    environ = {"HOME": str(image)}
    before = _files(image)
    arrange(environ, tmp_path / "own")
    entry = pathlib.Path(environ["TRITON_CACHE_DIR"], "ABC", "kernel.cubin")
    entry.with_name("tmp").write_text("another")  # as triton/runtime/cache.py writes: a temporary file, renamed
    os.replace(entry.with_name("tmp"), entry)
    arrange({"HOME": str(image)}, tmp_path / "own")
    assert (entry.read_text(), _files(image)) == ("another", before)


def test_flashinfer_is_left_where_its_builds_lie_unless_it_may_not_write_there(
    image: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = {"HOME": str(image)}
    assert image / ".cache/flashinfer" in arrange(environ, tmp_path / "own").theirs
    assert "FLASHINFER_WORKSPACE_BASE" not in environ and environ["TVM_FFI_CACHE_DIR"] == str(tmp_path / "own" / "tvm_ffi_cache_dir")
    monkeypatch.setattr(caches.home, "writable", lambda folder: not str(folder).startswith(str(image)))
    arrange(environ, tmp_path / "own")
    assert environ["FLASHINFER_WORKSPACE_BASE"] == str(tmp_path / "own" / "flashinfer_workspace_base")


def test_a_variable_names_the_images_cache_before_its_usual_place(image: pathlib.Path, tmp_path: pathlib.Path) -> None:
    environ = {"HOME": "/no/such/home", "TRITON_CACHE_DIR": str(image / ".triton/cache"), "TRITON_HOME": "/elsewhere"}
    arrange(environ, tmp_path / "own")
    assert list(_files(pathlib.Path(environ["TRITON_CACHE_DIR"]))) == ["ABC/kernel.cubin"]
    there = {"TRITON_HOME": str(image)}
    arrange(there, tmp_path / "other")
    assert list(_files(pathlib.Path(there["TRITON_CACHE_DIR"]))) == ["ABC/kernel.cubin"]


def test_arranging_twice_changes_nothing(image: pathlib.Path, tmp_path: pathlib.Path) -> None:
    environ = {"HOME": str(image)}
    arrange(environ, tmp_path / "own")
    once = dict(environ)
    assert arrange(environ, tmp_path / "own").theirs == (image / ".cache/flashinfer",)  # the only one that did not move
    assert environ == once


def test_without_a_home_every_cache_is_ours(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # what it returns for an account without an entry
    environ: dict[str, str] = {}
    assert arrange(environ, tmp_path) == Places(tmp_path, (), (tmp_path / "torchinductor_cache_dir",))
    assert environ == {library.variable: str(tmp_path / library.variable.lower()) for library in caches.LIBRARIES}


def test_an_image_with_too_many_files_is_linked_in_part(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        _write(tmp_path / "image" / str(number) / "a.cubin")
    monkeypatch.setattr(caches, "MOST_LINKS", 3)
    link(tmp_path / "image", tmp_path / "own")
    assert len(_files(tmp_path / "own")) == 3
