from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tuner.workers.bundle import BACKENDS, bundle

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The worker's code with made-up measurements (tests/tuner/scripted.py)."""
    return bundle([HERE / "scripted.py"], scripted_backends(tmp_path_factory))


@pytest.fixture(scope="session")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The worker's code as it is, with our drivers (tests/tuner/rogues.py) and short looks while it warms up, on a processor with
    little cache to be cold of whose memory is judged by few bytes."""
    room = copied_backends(tmp_path_factory)
    change(room / "timing" / "warmup.py", "WINDOW_S = 0.5\n", "WINDOW_S = 0.02\n")
    change(room / "timing" / "roofline.py", '"cpu": 128 << 20}', '"cpu": 16 << 20}')
    change(room / "device.py", "return max(sizes, default=CPU_CACHE_BYTES)\n", "return 2 << 20\n")
    return bundle([HERE / "rogues.py"], room)


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1, f"{file.name} holds {old!r} {text.count(old)} times"
    file.write_text(text.replace(old, new))


def scripted_backends(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of `backends` that measures as tests/tuner/scripted.py makes it up."""
    room = copied_backends(tmp_path_factory)
    (room / "trial.py").write_text("from scripted import run_trial as run\n")
    (room / "rounds.py").write_text("from scripted import run_round as run\n")
    return room


def copied_backends(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(BACKENDS, tmp_path_factory.mktemp("room") / BACKENDS.name, ignore=shutil.ignore_patterns("__pycache__")))


@pytest.fixture(scope="session")
def lock_key() -> Iterator[str]:
    """A device of the tests' own: a job that somebody runs on this machine meanwhile is not waited for."""
    key = f"test-{os.getpid()}"
    yield key
    for lock in Path("/tmp").glob(f"attnpin-{key}*.lock"):
        lock.unlink()
