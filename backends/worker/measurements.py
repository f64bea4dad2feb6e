"""Questions that are answered by measuring, each result sent as it is there."""

from __future__ import annotations

import base64
import importlib
from collections.abc import Mapping
from dataclasses import replace

from backends.arm import Arm
from backends.cell import Cell
from backends.measured import Round
from backends.phases import Say
from backends.spec import StageSpec, TimingSpec
from backends.step.shape import StepShape
from backends.timing.sampled import Manner
from backends.turns import ALONE
from backends.wire import from_plain
from backends.worker import caches
from backends.worker.line import Line, Message
from backends.worker.quiet import Quiet
from backends.worker.turn_taking import TurnTaking


def import_ahead(message: Message, line: Line) -> None:
    """Ahead of a trial or round. Ends this process where that opened a context on the device: another one measures there."""
    from backends import ahead

    line.say("import")
    context = ahead.import_ahead(from_plain(tuple[Arm, ...], message["arms"]))
    line.send("imported", context=context)
    if context:
        raise SystemExit("importing opened a context on the device")


def trial(message: Message, line: Line) -> None:
    from backends import trial
    from backends.timing.replayed_choices import replay
    from backends.worker.kernel_files import KernelFiles

    replay(dict(message.get("choices", ())))
    arm, files = from_plain(Arm, message["arm"]), KernelFiles(caches.arranged())
    for result in trial.run(arm, *_setting(message), _say(message, line)):
        line.send("trial", trial=result, kernel_files=files.seen())


def round(message: Message, line: Line) -> None:
    from backends import rounds
    from backends.timing.replayed_choices import replay

    replay(dict(message.get("choices", ())))
    arms = from_plain(tuple[Arm, ...], message["arms"])
    skip = {(arm, cell) for arm, cell in message.get("skip", ())}
    asked = message["index"], message["seed"], arms, *_setting(message), _say(message, line)
    turns = TurnTaking(line) if message.get("turns") else ALONE
    manner = from_plain(Manner, message.get("manner", {}))
    for result in rounds.run(*asked, skip, message.get("spaced", ()), turns, manner):
        if isinstance(result, Round):
            line.send("round", round=replace(result, quiet=bool(message.get("quiet"))))
        else:
            line.send("cell_round", cell_round=result)


def screen(message: Message, line: Line) -> None:
    """The controller names an arm and a phase after each "ready", and ends with a line that names none."""
    from backends import screen

    def asked() -> Mapping[str, str] | None:
        line.send("ready")
        wanted = line.hear()
        return wanted if wanted and "arm" in wanted else None

    baselines, arms = (
        {phase: from_plain(Arm, arm) for phase, arm in message["baselines"].items()},
        from_plain(tuple[Arm, ...], message["arms"]),
    )
    for step in screen.run(baselines, arms, *_setting(message), line.say, asked):
        line.send("step", step=step)


def call(message: Message, line: Line) -> None:
    """What somebody beside `backends` measures: a generator function of a module that travelled with the code, "module:name"."""
    module, _, name = message["function"].partition(":")
    for result in getattr(importlib.import_module(module), name)(message, _say(message, line)):
        line.send("result", result=result)


def _say(message: Message, line: Line) -> Say:
    """``quiet``: another process may be importing beside this one, and the controller can make it stand still."""
    return Quiet(line).say if message.get("quiet") else line.say


def anchors(message: Message, line: Line) -> None:
    from backends import anchors

    known = message.get("code")
    asked = from_plain(StageSpec, message["stage"]), from_plain(TimingSpec, message["timing"])
    found, code = anchors.measure(*asked, None if known is None else base64.b64decode(known), line.say)
    line.send("anchors", anchors=found, code=None if code is None else base64.b64encode(code).decode())


def rest_times(message: Message, line: Line) -> None:
    from backends.step import process

    shapes = from_plain(tuple[StepShape, ...], message["shapes"])
    asked = from_plain(StageSpec, message["stage"]), from_plain(TimingSpec, message["timing"])
    for found in process.measure(*asked, shapes, _say(message, line)):
        line.send("rest_times", rest_times=found)


def _setting(message: Message) -> tuple[tuple[Cell, ...], StageSpec, TimingSpec]:
    cells = from_plain(tuple[Cell, ...], message["cells"])
    return cells, from_plain(StageSpec, message["stage"]), from_plain(TimingSpec, message["timing"])
