"""The stand-in server beside this file as a user's command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

STANDIN = Path(__file__).parent / "standin"
WHOLE = ("--concurrency", "1,16", "--each", "2")
FEW = (*WHOLE, "--prompt-tokens", "64", "--output-tokens", "16")


def server(*options: str, model: Path | str = "m") -> list[str]:
    """CMD: "--eager-B", "--broken-B", "--more-B N" and "--chunk-B N" hold where backend B decodes. ``model`` is a word of every process."""
    return ["env", f"PYTHONPATH={STANDIN}", sys.executable, "-m", "sglang.launch_server", "--model-path", str(model), *options]


def left_behind(model: Path) -> str:
    """Processes of a server with this model."""
    return subprocess.run(["pgrep", "-f", f"{model}( |$)"], capture_output=True, text=True).stdout


def starts(folder: Path) -> list[dict[str, Any]]:
    """Those that are kept."""
    return [json.loads(line) for file in sorted(folder.rglob("starts.jsonl")) for line in file.read_text().splitlines()]
