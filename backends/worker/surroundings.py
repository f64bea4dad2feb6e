"""Questions about the place where the worker runs: what is there, what it may take, what can be laid over it."""

from __future__ import annotations

import os

from backends.simulated.world import World
from backends.wire import from_plain
from backends.worker.line import Line, Message


def facts(message: Message, line: Line) -> None:
    from backends.worker import facts, occupancy, processor

    line.say("facts")
    if (plain := message.get("simulation")) is not None:
        from backends.simulated import environment as simulated

        world = from_plain(World, plain)
        seen = {"busy": simulated.busy(world), "exclusive": simulated.exclusive(world)}
        line.send("facts", environment=simulated.environment(world), cpus=processor.usable_cpus(), **seen)
        return
    environment = facts.environment(message["imports"])
    missing = [folder for folder in message.get("path", ()) if not os.path.isdir(folder)]
    seen = {"busy": occupancy.busy(environment.board), "exclusive": occupancy.exclusive(environment.board)}
    spare = {"cpus": processor.usable_cpus(), "memory_bytes": processor.free_memory_bytes()}
    line.send("facts", environment=environment, missing=missing, **seen, **spare)


def devices(message: Message, line: Line) -> None:
    from backends.worker import board

    line.say("devices")
    line.send("devices", devices=board.visible())


def doctor(message: Message, line: Line) -> None:
    from backends.condition import Interest
    from backends.worker.doctor import condition

    line.say("doctor")
    line.send("condition", condition=condition.seen(from_plain(Interest, message["interest"])))


def ask(message: Message, line: Line) -> None:
    from backends.worker import asking

    line.say(f"asking {message['engine']}")
    line.send("says", says=asking.asked(message["engine"], message["questions"], message["limit_s"]))


def overlay(message: Message, line: Line) -> None:
    from backends.worker import overlay

    line.say("building an overlay")
    found = overlay.built(message["requirements"], message["wheels"], lambda text: line.say("building an overlay", detail=text[:200]))
    line.send("overlay", **found)


def offers(message: Message, line: Line) -> None:
    from backends.worker import offers

    line.say(f"asking for releases of {message['distribution']}")
    line.send("offers", **offers.offered(message["distribution"], message["wheels"]))


def lock(message: Message, line: Line) -> None:
    from backends.worker import lock

    caution = lock.take(message["gpu"], message["owner"], lambda owner: line.send("waiting", owner=owner))
    line.send("locked", caution=caution)
