"""The worker's own process: reads questions, answers each with events, and ends each answer with "done" or "error"."""

from __future__ import annotations

import base64
import faulthandler
import importlib
import json
import os
import platform
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, BinaryIO

from backends.arm import Arm
from backends.cell import Cell
from backends.measured import Round
from backends.phases import Say
from backends.simulated.world import World
from backends.spec import StageSpec, TimingSpec
from backends.step.shape import StepShape
from backends.timing.sampled import Manner
from backends.turns import ALONE
from backends.wire import from_plain
from backends.worker import caches, home, near
from backends.worker.failures import describe
from backends.worker.line import Line
from backends.worker.quiet import Quiet
from backends.worker.turn_taking import TurnTaking

Message = dict[str, Any]

QUESTION_LIMIT_S = 120.0  # for questions that bring no limits of their own


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
    timing = message.get("timing", {})
    limits = {name: timing.get(name, QUESTION_LIMIT_S) for name in ("trial_limit_s", "build_limit_s")}
    line.send("limits", **limits)
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


def _facts(message: Message, line: Line) -> None:
    from backends.worker import board, facts, processor

    line.say("facts")
    if (plain := message.get("simulation")) is not None:
        from backends.simulated import environment as simulated

        world = from_plain(World, plain)
        seen = {"busy": simulated.busy(world), "exclusive": simulated.exclusive(world)}
        line.send("facts", environment=simulated.environment(world), cpus=processor.usable_cpus(), **seen)
        return
    environment = facts.environment(message["imports"])
    missing = [folder for folder in message.get("path", ()) if not os.path.isdir(folder)]
    seen = {"busy": board.busy(environment.board), "exclusive": board.exclusive(environment.board)}
    spare = {"cpus": processor.usable_cpus(), "memory_bytes": processor.free_memory_bytes()}
    line.send("facts", environment=environment, missing=missing, **seen, **spare)


def _devices(message: Message, line: Line) -> None:
    from backends.worker import board

    line.say("devices")
    line.send("devices", devices=board.visible())


def _doctor(message: Message, line: Line) -> None:
    from backends.condition import Interest
    from backends.worker.doctor import condition

    line.say("doctor")
    line.send("condition", condition=condition.seen(from_plain(Interest, message["interest"])))


def _ask(message: Message, line: Line) -> None:
    from backends.worker import asking

    line.say(f"asking {message['engine']}")
    line.send("says", says=asking.asked(message["engine"], message["questions"], message["limit_s"]))


def _overlay(message: Message, line: Line) -> None:
    from backends.worker import overlay

    line.say("building an overlay")
    found = overlay.built(message["requirements"], message["wheels"], lambda text: line.say("building an overlay", detail=text[:200]))
    line.send("overlay", **found)


def _offers(message: Message, line: Line) -> None:
    from backends.worker import offers

    line.say(f"asking for releases of {message['distribution']}")
    line.send("offers", **offers.offered(message["distribution"], message["wheels"]))


def _lock(message: Message, line: Line) -> None:
    from backends.worker import lock

    caution = lock.take(message["gpu"], message["owner"], lambda owner: line.send("waiting", owner=owner))
    line.send("locked", caution=caution)


def _import(message: Message, line: Line) -> None:
    """Ahead of a trial or round. Ends this process where that opened a context on the device: another one measures there."""
    from backends import ahead

    line.say("import")
    context = ahead.import_ahead(from_plain(tuple[Arm, ...], message["arms"]))
    line.send("imported", context=context)
    if context:
        raise SystemExit("importing opened a context on the device")


def _trial(message: Message, line: Line) -> None:
    from backends import trial
    from backends.timing.replayed_choices import replay
    from backends.worker.kernel_files import KernelFiles

    replay(dict(message.get("choices", ())))
    arm, files = from_plain(Arm, message["arm"]), KernelFiles(caches.arranged())
    for result in trial.run(arm, *_setting(message), _say(message, line)):
        line.send("trial", trial=result, kernel_files=files.seen())


def _round(message: Message, line: Line) -> None:
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


def _screen(message: Message, line: Line) -> None:
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


def _call(message: Message, line: Line) -> None:
    """What somebody beside `backends` measures: a generator function of a module that travelled with the code, "module:name"."""
    module, _, name = message["function"].partition(":")
    for result in getattr(importlib.import_module(module), name)(message, _say(message, line)):
        line.send("result", result=result)


def _say(message: Message, line: Line) -> Say:
    """``quiet``: another process may be importing beside this one, and the controller can make it stand still."""
    return Quiet(line).say if message.get("quiet") else line.say


def _anchors(message: Message, line: Line) -> None:
    from backends import anchors

    known = message.get("code")
    asked = from_plain(StageSpec, message["stage"]), from_plain(TimingSpec, message["timing"])
    found, code = anchors.measure(*asked, None if known is None else base64.b64decode(known), line.say)
    line.send("anchors", anchors=found, code=None if code is None else base64.b64encode(code).decode())


def _rest_times(message: Message, line: Line) -> None:
    from backends.step import process

    shapes = from_plain(tuple[StepShape, ...], message["shapes"])
    asked = from_plain(StageSpec, message["stage"]), from_plain(TimingSpec, message["timing"])
    for found in process.measure(*asked, shapes, _say(message, line)):
        line.send("rest_times", rest_times=found)


def _setting(message: Message) -> tuple[tuple[Cell, ...], StageSpec, TimingSpec]:
    cells = from_plain(tuple[Cell, ...], message["cells"])
    return cells, from_plain(StageSpec, message["stage"]), from_plain(TimingSpec, message["timing"])


QUESTIONS: dict[str, Callable[[Message, Line], None]] = {
    "facts": _facts,
    "devices": _devices,
    "doctor": _doctor,
    "ask": _ask,
    "overlay": _overlay,
    "offers": _offers,
    "lock": _lock,
    "import": _import,
    "trial": _trial,
    "round": _round,
    "screen": _screen,
    "call": _call,
    "anchors": _anchors,
    "rest_times": _rest_times,
}
