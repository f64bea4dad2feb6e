"""Folders with distributions in them, as pip leaves them."""

from __future__ import annotations

import base64
import hashlib
import pathlib
from collections.abc import Mapping, Sequence


def install(folder: pathlib.Path, name: str, version: str, files: Mapping[str, str], requires: Sequence[str] = ()) -> pathlib.Path:
    """Lays ``files`` and a dist-info with METADATA and RECORD into ``folder``, over what is there; returns it."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {each}" for each in requires)]
    (info / "METADATA").write_text("\n".join(lines) + "\n")
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    rows = [f"{path},{recorded_hash(text)},{len(text)}" for path, text in files.items()]
    (info / "RECORD").write_text("\n".join([*rows, f"{info.name}/RECORD,,"]) + "\n")
    return folder


def recorded_hash(text: str) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
