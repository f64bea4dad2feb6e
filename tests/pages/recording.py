"""docs/demo.svg: what `attnpin demo` leaves in a terminal, as a picture."""

from __future__ import annotations

import html
import io
import os
import re
import subprocess
import sys
import tempfile

from tests.pages.sources import ROOT

PICTURE = ROOT / "docs" / "demo.svg"
COLUMNS = 132
ARGUMENTS = ("demo",)
COMMAND = " ".join(("attnpin", *ARGUMENTS))
LINES = re.compile(r'<text class="[\w-]+-r\d+"[^>]*>(.*?)</text>', re.DOTALL)


def output() -> str:
    """What the demo prints, stdout and stderr in one."""
    command = [sys.executable, "-P", "-m", "tuner", *ARGUMENTS]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True)
    return done.stdout


def picture(printed: str) -> str:
    """The terminal as SVG; the same for the same text and version of rich."""
    from rich.console import Console

    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(f"$ {COMMAND}\n{printed}", markup=False, highlight=False)
    return console.export_svg(title=COMMAND, unique_id="demo")


def words(svg: str) -> list[str]:
    """The words in a picture, however it is drawn and wrapped."""
    return " ".join(html.unescape(part).replace("\xa0", " ") for part in LINES.findall(svg)).split()
