"""Unpacks an engine for the tests: `python tests/engine/unpack.py 0.5.22` (an SGLang), `vllm-0.33.0` or `adapters` (libraries that kernel
adapters call) prints the folders that go first on its path.

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
from zipfile import ZipFile

HERE = Path(__file__).parent
CACHE = HERE.parents[1] / ".cache"
LAYERS = {
    **{"0.5.22": ("0.5.22",), "0.5.16": ("0.5.16", "0.5.22"), "0.5.23": ("0.5.23", "0.5.22")},
    "vllm-0.33.0": ("vllm-0.33.0", "0.5.22"),  # what it needs beside torch is SGLang's too
    "adapters": ("adapters",),
}
PYTHON_ALONE = ("vllm-0.33.0", "adapters")  # hundreds of MB of kernels that no test launches
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
    said = _fetch_python(growing, requirements) if requirements.stem in PYTHON_ALONE else _pip("install", "--target", growing, requirements)
    if said:
        shutil.rmtree(growing)
        return said
    shutil.copy(requirements, growing / "requirements.txt")
    shutil.rmtree(folder, ignore_errors=True)
    os.rename(growing, folder)
    return ""


def _fetch_python(folder: Path, requirements: Path) -> str:
    """The Python files of wheels; a compiled part leaves an empty file, which says that it was there."""
    with tempfile.TemporaryDirectory(dir=CACHE) as wheels:
        if said := _pip("download", "--dest", Path(wheels), requirements):
            return said
        for wheel in Path(wheels).glob("*.whl"):
            with ZipFile(wheel) as archive:
                for name in archive.namelist():
                    if name.endswith((".py", ".dist-info/METADATA")):
                        archive.extract(name, folder)
                    elif name.endswith(".so"):
                        folder.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
                        folder.joinpath(name).touch()
    return ""


def _pip(verb: str, option: str, folder: Path, requirements: Path) -> str:
    """What pip said when it failed."""
    words = [verb, "--no-deps", "--only-binary", ":all:", "--retries", "1", "--quiet", option, str(folder), "-r", str(requirements)]
    pip = subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, text=True)
    return pip.stderr or f"pip {verb} failed" if pip.returncode else ""


if __name__ == "__main__":
    sys.exit(main())
