from __future__ import annotations

import pathlib

import pytest

from backends.condition import Fa4Copy, Overwritten, Provided
from backends.worker.doctor import copies
from backends.worker.doctor.packages import on_path
from tests.backends.worker.doctor.installing import install

FA4 = "flash_attn/cute/interface.py"


@pytest.fixture
def place(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A folder whose sub-folders a, b and c are sys.path."""
    monkeypatch.setattr("sys.path", [str(tmp_path / name) for name in "abc"])
    return tmp_path


def laid(place: pathlib.Path, *files: str) -> None:
    for file in files:
        (place / file).parent.mkdir(parents=True, exist_ok=True)
        (place / file).touch()


def test_a_package_in_two_folders_is_imported_from_the_first(place: pathlib.Path) -> None:
    laid(place, "a/other.py", "b/libx/__init__.py", "c/libx/__init__.py")
    assert copies.provided(["libx", "nowhere"]) == (Provided("libx", (str(place / "b"), str(place / "c"))),)


def test_a_package_hides_namespace_portions_that_stand_before_it(place: pathlib.Path) -> None:
    laid(place, "a/flash_attn/cute/interface.py", "b/flash_attn/__init__.py")
    assert copies.provided(["flash_attn"]) == (Provided("flash_attn", (str(place / "b"), str(place / "a"))),)


def test_portions_alone_make_one_package(place: pathlib.Path) -> None:
    laid(place, "a/cutlass/one.py", "b/cutlass/two.py")
    assert copies.provided(["cutlass"]) == (Provided("cutlass", (str(place / "a"), str(place / "b")), merged=True),)


@pytest.mark.parametrize("file", ["hpc.py", "hpc.abi3.so"])
def test_a_module_of_one_file_counts(place: pathlib.Path, file: str) -> None:
    laid(place, f"a/{file}")
    assert copies.provided(["hpc"]) == (Provided("hpc", (str(place / "a"),)),)


def test_the_distribution_installed_last_is_the_one_whose_files_are_kept(place: pathlib.Path) -> None:
    install(place / "a", "flash-attn-4", "4.0", {FA4: "kernels", "flash_attn/cute/mask.py": "x"})
    install(place / "a", "flash-attn", "2.8", {FA4: "a stub", "flash_attn/cute/mask.py": "x", "flash_attn/__init__.py": ""})
    [found] = copies.overwritten(on_path(["flash-attn", "flash-attn-4"]))
    assert found == Overwritten("flash-attn", "flash-attn-4", 1, FA4, "flash-attn")


def test_a_file_edited_since_is_neithers(place: pathlib.Path) -> None:
    install(place / "a", "sgl-kernel", "0.3", {"sgl_kernel/__init__.py": "old"})
    install(place / "a", "sglang-kernel", "0.4", {"sgl_kernel/__init__.py": "new"})
    (place / "a/sgl_kernel/__init__.py").write_text("mine")
    [found] = copies.overwritten(on_path(["sgl-kernel", "sglang-kernel"]))
    assert (found.files, found.kept) == (1, None)
    (place / "a/sgl_kernel/__init__.py").unlink()
    assert copies.overwritten(on_path(["sgl-kernel", "sglang-kernel"])) == (found,)


def test_equal_files_and_other_folders_overwrite_nothing(place: pathlib.Path) -> None:
    install(place / "a", "one", "1", {"x/__init__.py": ""})
    install(place / "a", "two", "1", {"x/__init__.py": ""})
    install(place / "b", "three", "1", {"x/__init__.py": "other"})
    assert copies.overwritten(on_path(["one", "two", "three"])) == ()


def test_copies_of_fa4_are_found_in_whatever_carries_them(place: pathlib.Path) -> None:
    install(place / "a", "sglang", "0.5.22", {f"sglang/kernels/ops/attention/{FA4}": "1"})
    install(place / "a", "vllm", "0.33", {"vllm/vllm_flash_attn/cute/interface.py": "2", "vllm/interface.py": "3"})
    assert copies.of_fa4(on_path(["sglang", "vllm"])) == (
        Fa4Copy("sglang", "sglang/kernels/ops/attention/flash_attn/cute"),
        Fa4Copy("vllm", "vllm/vllm_flash_attn/cute"),
    )
