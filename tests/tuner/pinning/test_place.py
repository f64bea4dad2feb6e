from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from store.errors import ReadOnly, StoreError, Unreachable
from store.pins.pin_files import files_of, read_pin
from tests.oddities import MAKERS, is_seen_as
from tuner.errors import UsageError
from tuner.pinning.place import refuse_unwritable

ELSEWHERE = "sqlite:////nowhere/attnpin.db"
H200, SIMULATED = "NVIDIA H200", "simulated H200"
MEASURED = Path(__file__).parents[3] / "examples" / "qwen3_8b-h200" / "pin.yaml"


def refusal(path: Path, store_url: str = ELSEWHERE, gpu: str = H200) -> str:
    """The sentence that ends the command with 2."""
    with pytest.raises((UsageError, StoreError)) as caught:
        refuse_unwritable(path, store_url, gpu)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_folders_that_are_still_missing_are_no_obstacle_and_nothing_is_left_behind(tmp_path):
    refuse_unwritable(tmp_path / "pins" / "tiny" / "pin.yaml", ELSEWHERE, H200)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_place_for_a_pin(tmp_path):
    assert refusal(tmp_path) == f"pin.path={tmp_path} is a folder; name a file in it, such as {tmp_path}/pin.yaml"


def test_a_file_in_place_of_a_folder_is_named(tmp_path):
    (tmp_path / "pins").write_text("")
    assert refusal(tmp_path / "pins" / "pin.yaml").endswith(f"cannot be written: {tmp_path}/pins is no folder; choose another path")


@pytest.mark.parametrize("name", ["pin.yaml", "pin.md", "pin.evidence.jsonl.zst"])
@pytest.mark.parametrize("kind", MAKERS)
def test_each_of_the_three_files_may_replace_nothing_but_a_file(tmp_path, name, kind):
    path, place = tmp_path / "pin.yaml", tmp_path / name
    MAKERS[kind](place)
    if place == path and kind == "folder":
        return  # said with the name of a file in it
    assert refusal(path) == f"pin.path={path} would write {place}, which is a {kind}; choose another path"
    assert list(tmp_path.iterdir()) == [place]


def test_a_device_is_refused(tmp_path, monkeypatch):
    (tmp_path / "null").touch()
    is_seen_as(tmp_path / "null", stat.S_IFCHR, monkeypatch)
    assert refusal(tmp_path / "null").endswith("/null, which is a device; choose another path")


def test_links_to_files_old_and_new_are_followed(tmp_path):
    (tmp_path / "there").mkdir()
    for file in files_of(tmp_path / "pin.yaml"):
        file.symlink_to(tmp_path / "there" / "new" / file.name)
    refuse_unwritable(tmp_path / "pin.yaml", ELSEWHERE, H200)
    (tmp_path / "pin.md").unlink()
    (tmp_path / "pin.md").symlink_to("there")
    assert refusal(tmp_path / "pin.yaml").endswith(f"pin.md, which leads to {tmp_path}/there, a folder; choose another path")


def test_the_database_is_not_written_over(tmp_path):
    (tmp_path / "attnpin.db").touch()
    (tmp_path / "link.yaml").symlink_to("attnpin.db")
    for name in ("attnpin.db", "link.yaml"):
        said = refusal(tmp_path / name, f"sqlite:///{tmp_path}/attnpin.db")
        assert said == f"pin.path={tmp_path}/{name} would write {tmp_path}/{name}, which is the database of store.url; choose another path"


@pytest.mark.parametrize("path", ["pin.yaml", "new/pin.yaml"])
def test_a_folder_that_may_not_be_written_is_refused_before_measuring(read_only_folder, path):
    with pytest.raises(ReadOnly) as caught:
        refuse_unwritable(read_only_folder / path, ELSEWHERE, H200)
    assert caught.value.exit_code == 2
    assert f"pin.path={read_only_folder / path}: a new file in {read_only_folder} cannot be written by this user" in str(caught.value)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_a_file_system_that_takes_no_new_files_is_refused_whatever_its_permissions_say(monkeypatch):
    monkeypatch.setattr(os, "access", lambda folder, mode: True)
    with pytest.raises(Unreachable, match=r"^pin.path=/proc/pins/pin.yaml: a new file in /proc cannot be written \("):
        refuse_unwritable(Path("/proc/pins/pin.yaml"), ELSEWHERE, H200)


def test_a_pin_of_a_gpu_that_is_none_replaces_no_measured_one_and_may_itself_be_replaced(tmp_path):
    path = tmp_path / "pin.yaml"
    shutil.copy(MEASURED, path)
    assert refusal(path, gpu=SIMULATED).endswith(
        "holds a pin measured on NVIDIA H200, and one of a simulated H200 would replace it; choose another path"
    )
    refuse_unwritable(path, ELSEWHERE, H200)
    path.write_text(path.read_text().replace("gpu: NVIDIA H200", f"gpu: {SIMULATED}"))
    assert read_pin(path).valid_for.gpu == SIMULATED
    for gpu in (H200, SIMULATED):
        refuse_unwritable(path, ELSEWHERE, gpu)
