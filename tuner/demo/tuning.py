"""`attnpin demo tune`: a run that was measured once, told again without its GPU, decided afresh and pinned."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from reports import story, summary
from store.decision import Decision
from store.files import destination
from store.pins.pin import Pin
from store.runs.run import Run
from tuner.conclude import pinned, write
from tuner.demo.recordings import recording
from tuner.demo.replay import Pace, pace_for, replay
from tuner.errors import UsageError
from tuner.pinning.place import refuse_folder
from tuner.progress import Progress

PIN = "pin.yaml"
LIKE_TUNE = "That is what `attnpin tune` does, beside a GPU. What it would measure here, and what not: `attnpin plan`"


def run_demo(name: str, out: Path | None, fast: bool) -> None:
    """Tell the run called ``name`` on stderr and stdout; its pin files go to ``out`` (None: nowhere)."""
    run = recording(name)
    if out is not None:
        refuse_taken(out)
    print(story.recorded(run), flush=True)
    decided = measured(run, pace_for(run, waiting=not fast and sys.stderr.isatty()))
    pin = kept(decided, out)
    print(f"\n{summary.told(decided, pin) if out is None else summary.render(decided, pin, str(out / PIN))}\n{LIKE_TUNE}")


def refuse_taken(out: Path) -> None:
    """Raises `UsageError` where no file can be written, and rather than let recorded numbers take the place of a pin that is there."""
    refuse_folder(f"--out {out}", destination(out / PIN))
    if (out / PIN).exists():
        raise UsageError(f"{out / PIN} is there already and the demo replaces no pin; give another folder with --out")


def measured(run: Run, pace: Pace, brief: bool = False) -> Run:
    """``run``, told and decided once more."""
    with Progress() as progress:
        return replace(run, decision=replay(run, progress, pace, brief))


def kept(run: Run, out: Path | None) -> Pin:
    """The pin of what was decided, written into the folder ``out`` if there is one."""
    decision = decision_of(run)
    return pinned(run, decision, Path(PIN))[0] if out is None else write(run, decision, out / PIN)


def decision_of(run: Run) -> Decision:
    if run.decision is None:
        raise RuntimeError(f"run {run.id} is told before it is decided")
    return run.decision
