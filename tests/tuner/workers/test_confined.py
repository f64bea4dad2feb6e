"""Real kernels in the places where servers run."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from backends.measured import Trial
from backends.wire import from_plain
from tests.backends import small
from tuner.errors import UsageError
from tuner.workers.process import Worker

CONFINED = ("unshare", "--mount", "--net", str(pathlib.Path(__file__).with_name("confined.sh")))


@pytest.fixture
def confined() -> tuple[str, ...]:
    """The beginning of a command that starts a Python without network, home, account or anything to write but /tmp."""
    if shutil.which("setpriv") is None or os.geteuid() != 0 or subprocess.run([*CONFINED, "true"], capture_output=True).returncode:
        pytest.skip("namespaces of its own need root and unshare")
    return CONFINED


def question(driver: str) -> dict[str, object]:
    cells = (small.decode(48, 17),)
    return {"do": "trial", "arm": small.arm(driver), "cells": cells, "stage": small.stage(), "timing": small.QUICK}


def test_an_arm_is_measured_by_an_account_without_a_name_on_a_read_only_disk_without_network(confined: tuple[str, ...]) -> None:
    with Worker([*confined, sys.executable]) as worker:
        [event] = [event for event in worker.ask(question("backends.torch_sdpa:TorchSdpa")) if event["event"] == "trial"]
    trial = from_plain(Trial, event["trial"])
    assert (trial.outcome.value, trial.detail, event["kernel_files"]) == ("measured", None, [])


NOWHERE = 'for each in /tmp /var/tmp; do mount --bind $each $each && mount -o remount,bind,ro $each; done; cd /proc; exec "$@"'


@pytest.mark.usefixtures("confined")
def test_a_place_without_room_for_temporary_files_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.delenv(name, raising=False)
    with (
        pytest.raises(UsageError, match=r"last words: no room for temporary files \(.*\): mount a folder at /tmp, or name one with TMPDIR"),
        Worker(["unshare", "--mount", "sh", "-c", NOWHERE, "sh", sys.executable]),
    ):
        pass


def test_a_scratch_that_cannot_be_used_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch, misbehaving: bytes) -> None:
    monkeypatch.setenv("ATTNPIN_SCRATCH", "/proc/nowhere")
    with (
        pytest.raises(UsageError, match="exit code 1, last words: RuntimeError: ATTNPIN_SCRATCH=/proc/nowhere cannot be used"),
        Worker([sys.executable], code=misbehaving),
    ):
        pass
