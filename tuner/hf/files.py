"""Finding and reading the JSON files of a checkpoint. They come from anywhere, so they are read as nobody's friend."""

from __future__ import annotations

import hashlib
import json
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuner.errors import UsageError

MAX_BYTES = 4 << 20  # those of published models stay below 1 MB
MAX_DIGITS = 18
CONFIG, MODELOPT = "config.json", "hf_quant_config.json"
HUB_FOLDER = re.compile(r"models--(?:.*--)?(.+)")  # how the Hub's cache names a model: models--ORG--NAME/snapshots/COMMIT


@dataclass(frozen=True)
class Files:
    """``name`` of the model as its folder or file has it; ``quantization`` is what ModelOpt left beside the configuration. ``digest``
    (SHA-256, hex) is of the configuration, ``both`` of that and of what lies beside it."""

    name: str
    path: Path
    config: dict[str, Any]
    digest: str
    quantization: dict[str, Any] | None
    both: str


def read_files(given: str) -> Files:
    """The configuration at ``given``, a file or the folder it lies in. Raises `UsageError`."""
    path = _config_at(Path(given).expanduser(), given)
    content = _content(path)
    beside = path.with_name(MODELOPT)
    left = _content(beside) if path.name == CONFIG and beside.exists() else None
    quantization = None if left is None else _object(beside, left)
    return Files(_name(path), path, _object(path, content), _sha256(content), quantization, _sha256(content + (left or b"")))


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _config_at(path: Path, given: str) -> Path:
    try:
        if stat.S_ISDIR(path.stat().st_mode):
            path = path / CONFIG
            path.stat()
        return path
    except FileNotFoundError:
        if path.name == CONFIG and path.parent.is_dir():
            raise UsageError(f"model.path={given} has no {CONFIG}; give the folder of a Hugging Face checkpoint, or the file") from None
        raise UsageError(f"model.path={given} does not exist; give a folder or file of this machine, nothing is downloaded") from None
    except (OSError, ValueError) as error:  # a loop of links, a NUL in the name
        raise UsageError(f"model.path={given} cannot be opened ({_said(error)}); give a folder or file that can be read") from None


def _content(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UsageError(f"{path} is not a regular file; give the {CONFIG} of a checkpoint")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({_said(error)}); make it readable or give another file") from None
    if len(content) > MAX_BYTES:
        raise UsageError(f"{path} is larger than {MAX_BYTES >> 20} MiB, which no model configuration is; give the {CONFIG} of a checkpoint")
    return content


def _object(path: Path, content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content.decode("utf-8-sig"), parse_int=_whole)
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text in UTF-8; give the {CONFIG} of a checkpoint") from None
    except RecursionError:
        raise UsageError(f"{path} is nested deeper than any model configuration; give the {CONFIG} of a checkpoint") from None
    except ValueError as error:
        raise UsageError(f"{path} is not JSON ({error}); give the complete {CONFIG} of a checkpoint") from None
    if not isinstance(value, dict):
        raise UsageError(f"{path} holds {_called(value)} where a model configuration holds an object; give the {CONFIG} of a checkpoint")
    return value


def _whole(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"it has a number of {len(digits)} digits")
    return int(digits)


def _called(value: Any) -> str:
    names: dict[type, str] = {list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")


def _said(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _name(path: Path) -> str:
    """The folder's name for a config.json, else the file's; letters, digits, dot, dash and underscore of it."""
    folder = path.absolute().parent
    hub = HUB_FOLDER.fullmatch(folder.parent.parent.name) if folder.parent.name == "snapshots" else None
    raw = path.stem if path.name != CONFIG else hub[1] if hub else folder.name
    return re.sub(r"[^A-Za-z0-9._-]+", "_", raw).strip("._-")[:80] or "model"
