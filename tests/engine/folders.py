"""Where an engine lies for the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NO_NETWORK = 75  # tests/engine/unpack.py


def engine_folders(version: str) -> list[str]:
    """Folders that hold this SGLang ("vllm-0.33.0": that vLLM), unpacked now if need be; without a network the test is skipped, in CI it
    fails."""
    done = subprocess.run([sys.executable, str(ROOT / "tests/engine/unpack.py"), version], capture_output=True, text=True)
    if done.returncode == NO_NETWORK and not os.environ.get("CI"):
        pytest.skip(f"engine {version} is not unpacked in .cache/ and there is no network to fetch it from")
    assert done.returncode == 0, f"engine {version} cannot be unpacked: {done.stderr}"
    return done.stdout.split()
