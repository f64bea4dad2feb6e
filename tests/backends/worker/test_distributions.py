from __future__ import annotations

import importlib
import pathlib
from collections.abc import Callable

import pytest

from backends.environment import Distribution
from backends.worker import distributions

Install = Callable[..., pathlib.Path]


@pytest.fixture
def install(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Lays files and a dist-info with RECORD into a folder of this name, first on sys.path."""

    def lay(folder: str, name: str, version: str, files: dict[str, str]) -> pathlib.Path:
        root = tmp_path / folder
        info = root / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        rows = [f"{path},sha256={content}," for path, content in files.items()]
        (info / "RECORD").write_text("\n".join([*rows, f"{info.name}/RECORD,,"]))
        for path in files:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text("raise ImportError('asking for facts imports nothing')")
        monkeypatch.syspath_prepend(str(root))
        importlib.invalidate_caches()
        distributions._owners.cache_clear()
        distributions._installed.cache_clear()
        return root

    return lay


def owners(*imports: str) -> list[tuple[str, str, str]]:
    return [(name, each.name, each.version) for name, each in distributions.owned_by(imports)]


def test_an_import_name_leads_to_the_distribution_that_lists_it(install: Install) -> None:
    install("a", "Kernel_Things", "1.2", {"ktx/__init__.py": "1"})
    assert owners("ktx") == [("ktx", "kernel-things", "1.2")]


def test_the_first_on_the_path_wins(install: Install) -> None:
    install("old", "kernel-things", "1.0", {"ktx/__init__.py": "1"})
    install("new", "kernel-things", "2.0", {"ktx/__init__.py": "2"})
    assert owners("ktx") == [("ktx", "kernel-things", "2.0")]


def test_one_folder_shared_by_two_distributions_is_told_apart_by_a_dotted_name(install: Install) -> None:
    install("a", "attn", "2", {"attnx/__init__.py": "1", "attnx/two.py": "2"})
    install("a", "attn-4", "4", {"attnx/cute/__init__.py": "3"})
    assert owners("attnx.cute", "attnx.two") == [("attnx.cute", "attn-4", "4"), ("attnx.two", "attn", "2")]


def test_a_package_below_a_path_folder_of_its_own_is_found_from_above(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    root = install("a", "cutlass-dsl", "4.1", {"cutlass_dsl/packages/cutlassx/__init__.py": "1"})
    monkeypatch.syspath_prepend(str(root / "cutlass_dsl" / "packages"))
    assert owners("cutlassx") == [("cutlassx", "cutlass-dsl", "4.1")]


def test_installed_companions_belong_to_the_import_name(install: Install) -> None:
    install("a", "flashinfer-python", "0.6", {"flashinfer/__init__.py": "1"})
    install("a", "flashinfer-cubin", "0.6", {"flashinfer_cubin/__init__.py": "1"})
    assert owners("flashinfer") == [("flashinfer", "flashinfer-cubin", "0.6"), ("flashinfer", "flashinfer-python", "0.6")]
    assert dict(distributions.owned_by(["flashinfer"]))["flashinfer"].name == "flashinfer-python"


def test_a_companion_without_its_library_does_not_count(install: Install) -> None:
    install("a", "flashinfer-cubin", "0.6", {"flashinfer_cubin/__init__.py": "1"})
    assert owners("flashinfer") == []


def test_a_source_tree_is_entered_with_a_digest_of_its_files(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "treex").mkdir()
    seen = set()
    for text in ("a = 1", "a = 2", "a = 1"):
        (tmp_path / "treex" / "__init__.py").write_text(text)
        importlib.invalidate_caches()
        distributions._owners.cache_clear()
        [(_, found)] = distributions.owned_by(["treex"])
        assert (found.name, found.version) == ("treex", "unversioned")
        seen.add(found.digest)
    assert len(seen) == 2


def test_what_is_not_installed_is_left_out() -> None:
    assert distributions.owned_by(["no_such_module_anywhere", "no.such.module"]) == ()
    assert distributions.version("no-such-distribution") is None


def test_the_digest_covers_contents_and_nothing_of_the_installation() -> None:
    record = "k/a.py,sha256=1,1\nk/b.so,sha256=2,1\n"
    same = "k-1.dist-info/INSTALLER,sha256=9,1\nk/b.so,sha256=2,5\n../../bin/k,sha256=3,1\nk/__pycache__/a.pyc,,\nk/a.py,sha256=1,1\n"
    assert distributions.record_digest(record) == distributions.record_digest(same)
    assert distributions.record_digest(record) != distributions.record_digest(record.replace("sha256=2", "sha256=4"))
    assert distributions.record_digest(record) != distributions.record_digest("k/a.py,sha256=1,1\n")


def test_installed_packages_of_this_interpreter_are_found() -> None:
    [(name, found)] = distributions.owned_by(["pytest"])
    assert name == "pytest" and found == Distribution("pytest", pytest.__version__, found.digest) and len(found.digest) == 64
