from __future__ import annotations

import gc
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import hypothesis
import pytest

from tuner.workers.bundle import BACKENDS, bundle

hypothesis.settings.register_profile("without_a_clock", parent=hypothesis.settings.default, deadline=None)  # a busy machine is no fault
hypothesis.settings.load_profile("without_a_clock")

HERE = pathlib.Path(__file__).parent
LONGEST = (  # eight seconds of one core and more each
    *("backends/sglang/test_driver.py", "tuner/test_tune.py", "tuner/test_tune_interrupted.py", "tuner/comparing/test_compare.py"),
    *("tuner/simulated/test_check.py", "tuner/test_tune_side_by_side.py", "tuner/test_cli.py", "tuner/budgeting/test_rationing.py"),
    *("tuner/simulated/test_faults.py", "tuner/test_audit.py", "tuner/rounds/test_rounds_on_boards.py", "store/runs/test_interruption.py"),
    *("backends/test_conformance.py", "backends/paged/test_broken_libraries.py", "tuner/simulated/test_search.py"),
)

os.environ.setdefault("OMP_NUM_THREADS", "1")  # of torch, here and in workers: the threads of many small calls wait for one another

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as a shell starts what is to run behind it, and what that starts takes it over
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whole files are handed to workers one by one: those that take longest go first, so that none is left alone with one at the end."""
    order = {HERE / file: place for place, file in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path, len(order)))


def pytest_collection_finish() -> None:
    """What is there by now stays, so that the collections of garbage that measuring asks for need not look through all of it."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def light() -> Iterator[None]:
    """Where the tests at hand import Hydra or a store: what takes a tenth of a second and comes out the same hundreds of times is done
    once, and SQLite waits for no disk."""
    with pytest.MonkeyPatch.context() as patch:
        if "tuner.settings" in sys.modules:
            from tests import composed_once

            composed_once.replace(patch)
        if "store.database.schema" in sys.modules:
            from tests import light_sqlite

            light_sqlite.replace(patch)
        yield


@pytest.fixture(scope="session")
def misbehaving(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The worker's code with `backends.trial` replaced: an arm named "segfaults" does (tests/backends/misbehaving.py)."""
    room = tmp_path_factory.mktemp("room") / BACKENDS.name
    shutil.copytree(BACKENDS, room, ignore=shutil.ignore_patterns("__pycache__"))
    (room / "trial.py").write_text("from misbehaving import run as run\n")
    return bundle([pathlib.Path(__file__).parent / "backends" / "misbehaving.py"], room)


@pytest.fixture
def read_only_folder() -> Iterator[pathlib.Path]:
    """A folder this process may enter and not write. Permissions do not bind root, so root becomes nobody meanwhile."""
    folder = pathlib.Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield folder
    finally:
        os.seteuid(user)
        folder.chmod(0o755)
        shutil.rmtree(folder)


@pytest.fixture
def tiny_disk(tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """A file system of 500 kB."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=500k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("mounting a small file system needs root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
