from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.engine.folders import ROOT, engine_folders


@pytest.fixture(scope="session", params=["0.5.22", "0.5.16"])
def driven(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What drive.py printed under one SGLang: {"version", "warnings", "cases": {name: {"result"} or {"raised", "text"}}}."""
    return driven_by("drive.py", request.param)


def driven_by(script: str, version: str) -> dict[str, Any]:
    folders = engine_folders(version)
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join([*folders, str(ROOT)])}
    command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name(script)), version]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert printed["version"] == version
    return printed
