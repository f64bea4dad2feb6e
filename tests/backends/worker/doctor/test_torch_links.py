"""Against the torch that is installed, and shared objects compiled for the purpose."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

import pytest
import torch

from backends.condition import Linked
from backends.worker.doctor import torch_links
from backends.worker.doctor.elf import NotReadable, SharedObject, gnu_hash
from backends.worker.doctor.packages import Package, on_path
from tests.backends.worker.doctor.installing import install

TORCH = pathlib.Path(torch.__file__).with_name("lib")
NOWHERE, ERROR = "_ZN3c107nowhereEi", "_ZTVN3c105ErrorE"
CALLS_NOWHERE = 'namespace c10 { void nowhere(int); } extern "C" void kernel() { c10::nowhere(1); }'
WEAKLY = 'namespace c10 { __attribute__((weak)) void nowhere(int); } extern "C" void kernel() { if (c10::nowhere) c10::nowhere(1); }'
DEFINES_IT = "namespace c10 { void nowhere(int) {} }"


def built(file: pathlib.Path, source: str, *options: str) -> pathlib.Path:
    """``source`` compiled to a shared object that is loaded with torch's libc10.so."""
    if shutil.which("c++") is None:
        pytest.skip("needs a C++ compiler")
    linking = ["-Wl,--no-as-needed,--allow-shlib-undefined", f"-L{TORCH}", "-lc10", *options]
    command = ["c++", "-shared", "-fPIC", "-x", "c++", "-", "-o", str(file), *linking]
    subprocess.run(command, input=source, text=True, check=True, timeout=60)
    return file


@pytest.fixture
def package(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    """A distribution that lists libx/kernel.so and libx/beside.so, which a test may build."""
    install(tmp_path, "sgl-kernel", "0.3.21", {"libx/kernel.so": "", "libx/beside.so": "", "libx/__init__.py": ""})
    monkeypatch.setattr("sys.path", [str(tmp_path), str(TORCH.parents[1])])
    return on_path(["sgl-kernel"])[0]


def test_a_symbol_that_torch_lacks_is_named(package: Package) -> None:
    built(package.folder / "libx/kernel.so", CALLS_NOWHERE)
    assert torch_links.checked([package]) == (Linked("sgl-kernel", 1, "libx/kernel.so", (NOWHERE,)),)


def test_a_symbol_that_may_stay_away_is_not_missed(package: Package) -> None:
    built(package.folder / "libx/kernel.so", WEAKLY)
    assert torch_links.checked([package]) == (Linked("sgl-kernel", 1),)


def test_a_symbol_of_a_library_beside_it_is_not_missed(package: Package) -> None:
    built(package.folder / "libx/kernel.so", CALLS_NOWHERE)
    built(package.folder / "libx/beside.so", DEFINES_IT)
    assert torch_links.checked([package]) == (Linked("sgl-kernel", 2),)


def test_a_library_that_torch_lacks_is_named_before_any_symbol(package: Package, tmp_path: pathlib.Path) -> None:
    absent = built(tmp_path / "libc10_elsewhere.so", DEFINES_IT)
    built(package.folder / "libx/kernel.so", CALLS_NOWHERE, f"-L{tmp_path}", "-lc10_elsewhere")
    absent.unlink()
    assert torch_links.checked([package]) == (Linked("sgl-kernel", 1, "libx/kernel.so", ("libc10_elsewhere.so",)),)


def test_files_of_one_name_in_two_folders_are_both_looked_at(package: Package, tmp_path: pathlib.Path) -> None:
    """As sgl_kernel/sm90 and sgl_kernel/sm100 hold a common_ops.abi3.so each."""
    install(tmp_path, "sglang-kernel", "0.4.5", {"sm90/ops.so": "", "sm100/ops.so": ""})
    built(tmp_path / "sm90/ops.so", CALLS_NOWHERE)
    built(tmp_path / "sm100/ops.so", "int fine;")
    assert torch_links.checked(on_path(["sglang-kernel"])) == (Linked("sglang-kernel", 2, "sm90/ops.so", (NOWHERE,)),)


def test_a_package_without_files_that_link_to_torch_is_left_out(package: Package) -> None:
    assert torch_links.checked([package]) == ()


def test_without_torch_nothing_is_claimed(package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    built(package.folder / "libx/kernel.so", CALLS_NOWHERE)
    monkeypatch.setattr("sys.path", [str(package.folder)])
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert torch_links.checked([package]) == ()


def test_torch_itself_has_every_symbol_that_it_asks_for() -> None:
    [linked] = torch_links.checked(on_path(["torch"]))
    assert linked == Linked("torch", linked.files) and linked.files >= 5


def test_a_symbol_is_found_as_the_loader_finds_it() -> None:
    library = SharedObject(TORCH / "libc10.so")
    assert library.defines(ERROR) and not library.defines(NOWHERE)
    assert "libc.so.6" in library.needed
    names = set(SharedObject(TORCH / "libtorch_cpu.so").undefined())
    assert any(name.startswith("_ZN3c10") and library.defines(name) for name in names)


def test_the_hash_is_that_of_the_gnu_linker() -> None:
    """Values of the table in the specification of DT_GNU_HASH."""
    assert [gnu_hash(name) for name in ("", "printf", "exit", "syscall")] == [0x1505, 0x156B2BB8, 0x7C967E3F, 0xBAC212A0]


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"\x7fELF\x02\x01", b"\x7fELF\x02\x01" + bytes(100), b"INPUT(libc10.so.1)"])
def test_what_is_no_shared_object_is_said_to_be_unreadable(tmp_path: pathlib.Path, content: bytes) -> None:
    (tmp_path / "x.so").write_bytes(content)
    with pytest.raises(NotReadable, match=r"x\.so"):
        SharedObject(tmp_path / "x.so")


def test_a_library_cut_short_is_unreadable(tmp_path: pathlib.Path) -> None:
    whole = (TORCH / "libc10.so").read_bytes()
    (tmp_path / "x.so").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(NotReadable, match="no dynamic table"):
        SharedObject(tmp_path / "x.so")
