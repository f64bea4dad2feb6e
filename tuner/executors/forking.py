"""The process that jobs are forked from: `python -m tuner.executors.forking SOCKET`, begun by a `Nursery`."""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO

from tuner import __main__ as attnpin
from tuner.errors import INTERRUPTED
from tuner.executors.child import end_with_us
from tuner.executors.nursery import HEADER, STREAMS


@dataclass(frozen=True)
class Asked:
    """What is to be begun: `attnpin` with ``arguments``; ``streams`` as `STREAMS` has them."""

    arguments: list[str]
    folder: str
    environment: dict[str, str]
    streams: Sequence[int]


def main(number: int) -> None:
    """Forks for whoever asks; in each fork this returns as the job ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them here
    warm_up()
    with socket.socket(fileno=number) as line:
        asked = in_a_fork(line)
    if asked is not None:
        become(asked)
        run(asked)


def warm_up() -> None:
    """What a job needs is imported, and what it reads and compiles once is read and compiled, by planning one that is known to be sound."""
    import tuner.commands.measuring
    import tuner.limiting.drivers
    import tuner.pinning.place
    import tuner.tune  # noqa: F401
    from tuner.cli import run as run_command
    from tuner.device.worker_code import worker_code
    from tuner.plan import make_plan
    from tuner.settings import compose, gpu_sheets
    from tuner.workers.room import unpacked

    with redirect_stdout(StringIO()):
        run_command(["--version"])
    settings = compose(["model=qwen3_8b", "gpu=h200"])
    make_plan(settings), unpacked(worker_code(settings)), gpu_sheets()
    gc.collect()
    gc.freeze()


def in_a_fork(line: socket.socket) -> Asked | None:
    """What this process, by now a fork, is to do; None in the one that has forked, once nobody asks any more."""
    while (asked := asked_on(line)) is not None:
        if os.fork() == 0:
            return asked
        for stream in asked.streams:
            os.close(stream)
    return None


def asked_on(line: socket.socket) -> Asked | None:
    head, streams, *_ = socket.recv_fds(line, HEADER.size, STREAMS, socket.MSG_CMSG_CLOEXEC)
    if len(head) < HEADER.size:
        return None
    return Asked(**json.loads(line.recv(HEADER.unpack(head)[0], socket.MSG_WAITALL)), streams=streams)


def become(asked: Asked) -> None:
    """A process as if it had been begun there, which ends with the one it was forked from."""
    os.setsid()
    end_with_us()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, stream in enumerate(asked.streams[:2], 1):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(asked.folder)
    os.environ.clear()
    os.environ.update(asked.environment)
    sys.argv[1:] = asked.arguments


def run(asked: Asked) -> None:
    """Ends the process. Its last stream stays open until it is gone."""
    *_, ending = asked.streams
    code: object = 1
    try:
        os.write(ending, f"{os.getpid()}\n".encode())
        attnpin.main()
    except KeyboardInterrupt:  # as soon as it was known, before it could handle it
        code = INTERRUPTED
    except SystemExit as end:
        code = end.code
        raise
    finally:
        os.write(ending, str(code).encode())


if __name__ == "__main__":
    main(int(sys.argv[1]))
