"""What kernels would be compiled with here: the CUDA toolkit, a host compiler, ninja."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from backends.condition import Toolkit

USUAL = Path("/usr/local/cuda")
NVCC_LIMIT_S = 5.0
TOOLS = ("c++", "ninja")


def found(environ: Mapping[str, str], usual: Path = USUAL) -> Toolkit | None:
    """Looked for where FlashInfer and torch look: CUDA_HOME, CUDA_PATH, beside the nvcc on PATH, /usr/local/cuda.

    Source: flashinfer/jit/cpp_ext.py (0.6.14), get_cuda_path; torch/utils/cpp_extension.py (2.13), _find_cuda_home.
    """
    home = _home(environ, usual)
    if home is None:
        return None
    return Toolkit(str(home), _version(home / "bin" / "nvcc"), (home / "include" / "cuda_runtime.h").is_file())


def tools() -> tuple[str, ...]:
    return tuple(name for name in TOOLS if shutil.which(name))


def _home(environ: Mapping[str, str], usual: Path) -> Path | None:
    if named := environ.get("CUDA_HOME") or environ.get("CUDA_PATH"):
        return Path(named)
    nvcc = shutil.which("nvcc", path=environ.get("PATH", os.defpath))
    if nvcc is not None:
        return Path(nvcc).parent.parent
    return usual if usual.exists() else None


def _version(nvcc: Path) -> str | None:
    """ "13.0"; None where nvcc does not run."""
    try:
        said = subprocess.run([nvcc, "--version"], capture_output=True, text=True, timeout=NVCC_LIMIT_S).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    release = re.search(r"release (\d+\.\d+)", said)
    return release[1] if release else None
