from __future__ import annotations

import io
import pathlib
import shlex
import subprocess
import sys
import zipfile

from tuner.workers.bootstrap import BOOTSTRAP, command_line
from tuner.workers.bundle import bundle, foreign_sources


def names(code: bytes) -> list[str]:
    return zipfile.ZipFile(io.BytesIO(code)).namelist()


def test_the_bundle_holds_the_room_of_the_worker_and_nothing_else() -> None:
    held = names(bundle())
    assert {"backends/__init__.py", "backends/worker/loop.py"} <= set(held)
    assert all(name.startswith("backends/") and "__pycache__" not in name for name in held)


def test_equal_files_give_equal_bytes(tmp_path: pathlib.Path) -> None:
    for folder in ("a", "b"):
        room = tmp_path / folder / "backends"
        room.mkdir(parents=True)
        for name in ("x.py", "y.py") if folder == "a" else ("y.py", "x.py"):
            (room / name).write_text(name)
    assert bundle(room=tmp_path / "a" / "backends") == bundle(room=tmp_path / "b" / "backends")


def test_drivers_of_third_parties_travel_as_file_or_folder(tmp_path: pathlib.Path) -> None:
    (tmp_path / "single.py").write_text("")
    (tmp_path / "package" / "deep").mkdir(parents=True)
    (tmp_path / "package" / "__init__.py").write_text("raise ImportError('finding it imports nothing')")
    (tmp_path / "package" / "deep" / "kernels.py").write_text("")
    modules = ["single", "package.deep.kernels", "backends.torch_sdpa", "only_on_the_worker"]
    extra = foreign_sources(modules, [str(tmp_path)])
    assert extra == (tmp_path / "package", tmp_path / "single.py")
    assert {"package/__init__.py", "package/deep/kernels.py", "single.py"} <= set(names(bundle(extra)))


def test_ssh_gets_its_words_quoted_for_the_far_shell() -> None:
    words = command_line(["/usr/bin/ssh", "host", "python3"])
    assert words[:3] == ["/usr/bin/ssh", "host", "python3"]
    assert shlex.split(" ".join(words[2:])) == ["python3", "-c", BOOTSTRAP]
    assert command_line(["python3"]) == ["python3", "-c", BOOTSTRAP]


def test_the_bootstrap_stays_ten_lines() -> None:
    assert len(BOOTSTRAP.splitlines()) == 10


def test_a_module_in_the_current_folder_does_not_shadow_the_library(tmp_path: pathlib.Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('shadowed')")
    ended = subprocess.run(command_line([sys.executable]), input=b"not json\n", capture_output=True, cwd=tmp_path, timeout=30)
    assert b"JSONDecodeError" in ended.stderr


def test_an_old_python_says_so() -> None:
    old = BOOTSTRAP.replace("(3, 10)", "(99, 0)")
    ended = subprocess.run([sys.executable, "-c", old], capture_output=True, timeout=30)
    assert ended.returncode == 1
    assert ended.stderr.startswith(b"the worker needs Python 3.10 or newer, this is 3.")
