"""The environment key of this worker, without importing torch or any library it names."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import platform
from collections.abc import Sequence
from typing import Any

from backends.environment import Environment
from backends.worker import board, distributions, variables


def environment(imports: Sequence[str]) -> Environment:
    """Board, interpreter and the distributions behind ``imports`` (import names, dotted ones too), as found on sys.path now.

    ``image`` is what ATTNPIN_IMAGE says: a container does not know its own digest.
    """
    torch = torch_version()
    found = board.here(board.served_by(torch))
    owned = distributions.owned_by(imports)
    return Environment(
        board=found,
        python=platform.python_version(),
        torch=torch.get("__version__"),
        cuda=torch.get("cuda"),
        triton=distributions.version("triton"),
        distributions=tuple(sorted({each for _, each in owned}, key=lambda each: (each.name, each.version))),
        variables=variables.kernel_variables(os.environ, found.kind),
        image=os.environ.get("ATTNPIN_IMAGE") or None,
        imports=tuple((name, each.name) for name, each in owned),
    )


def torch_version() -> dict[str, Any]:
    """Names that torch/version.py defines ("__version__", "cuda"), read without importing torch; empty without torch."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return {}
    names: dict[str, Any] = {}
    exec(pathlib.Path(spec.origin).with_name("version.py").read_text(), names)
    return names
