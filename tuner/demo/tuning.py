"""`attnpin demo`: a run that was measured once, told again without its GPU, decided afresh and pinned."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from reports import story, summary
from store.decision import Decision
from store.files import destination
from store.runs.run import Run
from tuner.conclude import write
from tuner.demo.recordings import recording
from tuner.demo.replay import Pace, pace_for, replay
from tuner.errors import UsageError
from tuner.pin_place import refuse_folder
from tuner.progress import Progress

LIKE_TUNE = "That is what `attnpin tune` does, beside a GPU. What it would measure here, and what not: `attnpin plan`"


def run_demo(name: str, folder: Path | None, fast: bool) -> None:
    """Tell the run called ``name`` on stderr and stdout; its pin files go to ``folder`` (None: a new temporary one).

    A chapter takes what the one before it left: the pin is what an upgrade is told about.
    """
    run, path = recording(name), pin_path(folder)
    print(story.recorded(run), flush=True)
    decision = _measured(run, pace_for(run, waiting=not fast and sys.stderr.isatty()))
    _pinned(run, decision, path)
    print(f"\n{LIKE_TUNE}")


def pin_path(folder: Path | None) -> Path:
    """Where the pin goes. Raises `UsageError` where no file can be written, and rather than let recorded numbers take the place of a pin
    that is there."""
    path = (folder or Path(tempfile.mkdtemp(prefix="attnpin-demo-"))) / "pin.yaml"
    refuse_folder(f"--out {folder}", destination(path))
    if path.exists():
        raise UsageError(f"{path} is there already and the demo replaces no pin; give another folder with --out")
    return path


def _measured(run: Run, pace: Pace) -> Decision:
    with Progress() as progress:
        return replay(run, progress, pace)


def _pinned(run: Run, decision: Decision, path: Path) -> None:
    pin = write(replace(run, decision=decision), decision, path)
    sys.stdout.write(f"\n{summary.render(replace(run, decision=decision), pin, str(path))}")
