"""Unpacks an SGLang for the tests: `python tests/engine/unpack.py 0.5.22` prints the folders that go first on its path.

They lie in .cache/ beside the sources and are made once; nothing of the environment is touched, and its torch is used.
Exit status 75: no network. Anything else but 0: a package cannot be had.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
CACHE = HERE.parents[1] / ".cache"
LAYERS = {"0.5.22": ("0.5.22",), "0.5.16": ("0.5.16", "0.5.22"), "0.5.23": ("0.5.23", "0.5.22")}
NO_NETWORK = 75
NETWORK_TROUBLE = re.compile(r"NewConnectionError|ConnectTimeout|ReadTimeout|name resolution|Network is unreachable|Connection refused")


def main() -> int:
    for layer in LAYERS[sys.argv[1]]:
        folder = CACHE / f"engine-{layer}"
        requirements = HERE / f"{layer}.txt"
        if not _is_current(folder, requirements):
            said = _install(folder, requirements)
            if said:
                print(said, file=sys.stderr)
                return NO_NETWORK if NETWORK_TROUBLE.search(said) else 1
        print(folder)
    return 0


def _is_current(folder: Path, requirements: Path) -> bool:
    made_from = folder / "requirements.txt"
    return made_from.is_file() and made_from.read_text() == requirements.read_text()


def _install(folder: Path, requirements: Path) -> str:
    """What pip said when it failed, empty when the folder is ready. It gets its name last, so that half of it is never used."""
    CACHE.mkdir(exist_ok=True)
    growing = Path(tempfile.mkdtemp(dir=CACHE))
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--only-binary", ":all:", "--retries", "1", "--quiet"]
    pip = subprocess.run([*command, "--target", growing, "-r", requirements], capture_output=True, text=True)
    if pip.returncode:
        shutil.rmtree(growing)
        return pip.stderr
    shutil.copy(requirements, growing / "requirements.txt")
    shutil.rmtree(folder, ignore_errors=True)
    os.rename(growing, folder)
    return ""


if __name__ == "__main__":
    sys.exit(main())
