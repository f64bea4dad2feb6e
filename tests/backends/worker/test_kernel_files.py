from __future__ import annotations

import ctypes
import os
import pathlib
import shutil
import sys
from dataclasses import replace

import pytest

from backends.worker.caches import Places
from backends.worker.kernel_files import BUILT, OURS, THEIRS, KernelFiles

YESTERDAY = 1_700_000_000


@pytest.fixture
def places(tmp_path: pathlib.Path) -> Places:
    own, theirs = tmp_path / "own", tmp_path / "image"
    own.mkdir()
    theirs.mkdir()
    return Places(own, (theirs,))


def kernel(folder: pathlib.Path, name: str, made: float | None = YESTERDAY) -> pathlib.Path:
    file = folder / name
    file.write_bytes(b"\x7fELF")
    if made is not None:
        os.utime(file, (made, made))
    return file


def test_a_kernel_is_told_by_where_it_lay_and_when_it_was_written(places: Places) -> None:
    files = KernelFiles(places)
    (theirs,) = places.theirs
    for file in (kernel(theirs, "decode.cubin"), kernel(places.own, "prefill.cubin"), kernel(places.own, "merge.cubin", None)):
        file.read_bytes()
    assert files.seen() == (("decode", THEIRS), ("merge", BUILT), ("prefill", OURS))


def test_a_link_to_the_images_kernel_is_the_images(places: Places) -> None:
    files = KernelFiles(places)
    link = places.own / "decode.cubin"
    link.symlink_to(kernel(places.theirs[0], "decode.cubin"))
    link.read_bytes()
    assert files.seen() == (("decode", THEIRS),)


def test_a_kernel_written_under_a_temporary_name_is_built_here(places: Places) -> None:
    files = KernelFiles(places)
    temporary = places.own / "tmp.pid_1_decode.cubin"
    temporary.write_bytes(b"\x7fELF")
    temporary.rename(places.own / "decode.cubin")
    assert files.seen() == (("tmp", BUILT),)


def test_a_library_that_no_python_code_opened_is_found_in_the_memory_map(places: Places) -> None:
    library = places.theirs[0] / "module.so"
    shutil.copy(pathlib.Path(sys.modules["_ctypes"].__file__ or ""), library)
    os.utime(library, (YESTERDAY, YESTERDAY))
    files = KernelFiles(places)
    ctypes.CDLL(str(library))
    assert files.seen() == (("module", THEIRS),)


def test_what_lies_in_no_cache_and_what_is_no_kernel_is_left_out(places: Places, tmp_path: pathlib.Path) -> None:
    files = KernelFiles(places)
    for file in (
        kernel(tmp_path, "prebuilt.so"),
        kernel(places.own, "kernel.json"),
        kernel(places.own, "__triton_launcher.cpython-312-x86_64-linux-gnu.so"),
    ):
        file.read_bytes()
    assert files.seen() == ()


def test_of_one_name_in_several_places_the_gravest_word_counts(places: Places) -> None:
    files = KernelFiles(places)
    for file in (kernel(places.theirs[0], "decode.cubin"), kernel(places.own, "decode.cubin", None)):
        file.read_bytes()
    assert files.seen() == (("decode", BUILT),)


def test_an_entry_of_torch_compile_stands_for_kernels_that_are_loaded_without_python(places: Places) -> None:
    files = KernelFiles(replace(places, compiled=(places.own / "inductor",)))
    (places.own / "inductor").mkdir()
    for name in ("fx_graph", "abc.lock"):
        kernel(places.own / "inductor", name).read_bytes()
    kernel(places.own, "config").read_bytes()
    assert files.seen() == (("torch.compile", OURS),)
