from __future__ import annotations

import os

import pytest

from tuner.errors import UsageError
from tuner.pin_place import refuse_unwritable


def test_folders_that_are_still_missing_are_no_obstacle(tmp_path):
    refuse_unwritable(tmp_path / "pins" / "tiny" / "pin.yaml")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_place_for_a_pin(tmp_path):
    with pytest.raises(UsageError, match=r"is a folder; name a file in it, such as .*pin\.yaml"):
        refuse_unwritable(tmp_path)


def test_a_file_in_place_of_a_folder_is_named(tmp_path):
    (tmp_path / "pins").write_text("")
    with pytest.raises(UsageError, match="pins is no folder"):
        refuse_unwritable(tmp_path / "pins" / "pin.yaml")


@pytest.mark.parametrize("path", ["pin.yaml", "new/pin.yaml"])
def test_a_read_only_folder_is_refused_before_measuring(tmp_path, path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda folder, mode: False)  # root may write anywhere but on a read-only disk
    with pytest.raises(UsageError, match=f"cannot be written: {tmp_path} is read-only"):
        refuse_unwritable(tmp_path / path)
