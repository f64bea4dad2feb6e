"""The worker's own process: reads questions, answers each with events, and ends each answer with "done" or "error"."""

from __future__ import annotations

import faulthandler
import json
import platform
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict
from typing import BinaryIO

from backends.silence import USUAL
from backends.worker import caches, home, measurements, near, surroundings
from backends.worker.failures import describe
from backends.worker.line import Line, Message


def serve(incoming: BinaryIO, descriptor: int) -> None:
    """Answer until the line closes, or until a failure that leaves this process unfit (a lost CUDA context)."""
    _prepare_process()
    line = Line(descriptor, incoming)
    line.send("hello", python=platform.python_version())
    for text in incoming:
        if not _answer(json.loads(text), line):
            return


def _prepare_process() -> None:
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # the guard made it the same place as stderr
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable()  # a crash leaves its Python stack on stderr
    faulthandler.register(signal.SIGUSR1, all_threads=True)  # and so does a hang, when the guard asks
    near.keep_near()
    caches.arranged()
    home.ensure()


def _answer(message: Message, line: Line) -> bool:
    """False when the process must not be asked again."""
    line.send("limits", limits=message.get("limits") or asdict(USUAL))
    try:
        QUESTIONS[message["do"]](message, line)
    except BaseException as error:  # SystemExit too: a library that calls exit() ends its arm, not the line
        traceback.print_exc()
        return _report(error, line)
    line.send("done")
    return True


def _report(error: BaseException, line: Line) -> bool:
    from backends.blame import ArmFailed

    if isinstance(error, ArmFailed):  # it knows better than the progress whose fault it was
        line.send("error", outcome=error.outcome, detail=error.detail, phase=line.phase, arm=error.arm, cell=error.cell)
        return False
    failure = describe(error)
    line.send("error", outcome=failure.outcome, detail=failure.detail, phase=line.phase)
    return not failure.fatal


QUESTIONS: dict[str, Callable[[Message, Line], None]] = {
    "facts": surroundings.facts,
    "devices": surroundings.devices,
    "doctor": surroundings.doctor,
    "ask": surroundings.ask,
    "overlay": surroundings.overlay,
    "offers": surroundings.offers,
    "lock": surroundings.lock,
    "import": measurements.import_ahead,
    "trial": measurements.trial,
    "round": measurements.round,
    "screen": measurements.screen,
    "call": measurements.call,
    "anchors": measurements.anchors,
    "rest_times": measurements.rest_times,
}
