from __future__ import annotations

import pathlib

import pytest

from backends.condition import Interest, ServingCondition
from backends.wire import from_plain, to_plain
from backends.worker.doctor import condition
from tests.backends.worker.doctor.installing import install

FA4 = "flash_attn/cute/interface.py"


def seen(folders: list[pathlib.Path], monkeypatch: pytest.MonkeyPatch, path: tuple[str, ...] = ()) -> ServingCondition:
    monkeypatch.setattr("sys.path", [str(folder) for folder in folders])
    return condition.seen(Interest(("sglang", "torch"), ("sglang",), ("torch",), ("ATTNPIN_TEST_A", "ATTNPIN_TEST_B"), path))


def test_a_condition_travels_unchanged(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNPIN_TEST_A", "1")
    found = seen([install(tmp_path, "sglang", "0.5.22", {"sglang/__init__.py": ""})], monkeypatch)
    assert found.variables == (("ATTNPIN_TEST_A", "1"),)
    assert from_plain(ServingCondition, to_plain(found)) == found


def test_a_hidden_copy_is_listed_and_carries_nothing(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new = install(tmp_path / "new", "sglang", "0.5.22", {f"sglang/kernels/{FA4}": ""})
    old = install(tmp_path / "old", "sglang", "0.5.16", {f"sglang/jit_kernel/{FA4}": ""})
    found = seen([new, old], monkeypatch)
    assert [each.version for each in found.installed] == ["0.5.22", "0.5.16"]
    assert [each.place for each in found.fa4_copies] == ["sglang/kernels/flash_attn/cute"]


def test_the_engines_folders_are_told_without_links(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "overlay").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "overlay")
    assert seen([tmp_path], monkeypatch, (str(tmp_path / "link"),)).overlays == (str(tmp_path / "overlay"),)
