"""What is connected to a Ray cluster, in a process of its own. Ray ends its drivers, with exit code 1, a minute after the head is gone;
where another head takes its place before that, they wait for ever.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial

from store.database.interrupts import heard_by
from tuner import spans
from tuner.command_line.boundary import guarded, say
from tuner.errors import INTERNAL_FAULT, MeasurementInvalid
from tuner.executors.child import end_with_us
from tuner.executors.ray_head import Head, Line, comes, head_at

BY_RAY = 1  # no sweep of ours ends with it
MOST_HEADS = 8  # in the time of one sweep
PATIENCE_S, LOOK_EVERY_S = 120.0, 0.5

Work = Callable[[bool], int]


def outlasting_heads(work: Work, address: str | None, debug: bool) -> int:
    """The exit code of ``work``, which is told whether it goes on where one before it was ended.

    Raises `MeasurementInvalid` where no cluster answers at ``address`` again.
    """
    head = head_at(address)
    code = _apart(partial(work, False), head, debug)
    for _ in range(MOST_HEADS):
        if code != BY_RAY:
            return code
        say(f"the head of the Ray cluster went away; waiting {spans.words(PATIENCE_S)} for one at {address}, to go on with it")
        if head is None or not comes(head, PATIENCE_S, LOOK_EVERY_S):
            raise MeasurementInvalid(
                f"no Ray cluster answers at executor.address={address}; start one and run the same command again, it goes on"
            )
        code = _apart(partial(work, True), head, debug)
    raise MeasurementInvalid(f"the head of the Ray cluster at {address} went away {MOST_HEADS} times; run the same command again")


def _apart(work: Callable[[], int], head: Head | None, debug: bool) -> int:
    """In a child, to which signals are passed on; it ends with us, and with ``head``."""
    sys.stdout.flush()
    sys.stderr.flush()
    if (child := os.fork()) == 0:
        code = INTERNAL_FAULT
        try:
            os.setsid()
            end_with_us()
            code = guarded(work, debug)
        finally:
            os._exit(code)

    def pass_on(usual: object, number: int, frame: object) -> None:
        with suppress(ProcessLookupError):
            os.kill(child, number)

    with heard_by(pass_on):
        code = os.waitstatus_to_exitcode(_status(child, head))
    return 128 - code if code < 0 else code


def _status(child: int, head: Head | None) -> int:
    """As `os.waitpid` has it. A child whose head was there and is not is ended as Ray would."""
    if head is None:
        return os.waitpid(child, 0)[1]
    with closing(Line(head)) as line:
        while not line.is_cut():
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return status
            time.sleep(LOOK_EVERY_S)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return BY_RAY << 8
