from __future__ import annotations

from pathlib import Path

import pytest

from tests.tuner.unmeasured.pinned import pinned
from tuner.errors import UsageError
from tuner.pinning.pins_in import pins_in


def test_pins_are_found_among_other_files_in_order(tmp_path: Path) -> None:
    of = pinned()
    made = [of.written(tmp_path / name) for name in ("a/pin.yaml", "b/deep/mine.yml", "pin.yaml")]
    (tmp_path / "deployment.yaml").write_text("kind: Deployment\nevidence: none\n")
    (tmp_path / "nested.yaml").write_text("pin:\n  schema: 1\n  valid_for: {}\n  evidence: {}\n")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "folder.yaml").mkdir()
    of.written(tmp_path / ".cache" / "pin.yaml")
    assert pins_in(tmp_path) == tuple(made)


def test_a_pin_whose_evidence_is_lost_or_that_was_written_by_hand_is_still_one(tmp_path: Path) -> None:
    path = pinned().written(tmp_path / "pin.yaml")
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if not line.startswith("#")))
    (tmp_path / "pin.evidence.jsonl.zst").unlink()
    assert pins_in(tmp_path) == (path,)


def test_a_pin_that_was_cut_short_is_still_one(tmp_path: Path) -> None:
    path = pinned().written(tmp_path / "pin.yaml")
    path.write_text(path.read_text()[:300])
    assert pins_in(tmp_path) == (path,)


@pytest.mark.parametrize("left", [b"", b"\xff\xfe\x00", b"foo: bar\n", None])
def test_a_pin_of_which_nothing_is_left_but_what_lies_beside_it_is_still_one(left: bytes | None, tmp_path: Path) -> None:
    """Emptied by a full disk, overwritten, or a link that leads nowhere: it must not be missing from the answers."""
    path = pinned().written(tmp_path / "pin.yaml")
    if left is None:
        path.unlink()
        path.symlink_to(tmp_path / "gone.yaml")
    else:
        path.write_bytes(left)
    assert pins_in(tmp_path) == (path,)


def test_a_folder_without_pins_and_what_is_no_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no pin: no YAML file there has schema, valid_for, evidence; give the folder"):
        pins_in(tmp_path)
    with pytest.raises(UsageError, match="--pins /nowhere is no folder; give the one that the pins lie in, or one pin with --pin"):
        pins_in(Path("/nowhere"))
