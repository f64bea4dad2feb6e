"""The GPUs that a server will use, kept from other runs of attnpin while it is measured: the locks that `tune` takes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import PurePath

from backends.worker.lock import held
from store.scenario import Engine
from tuner.executors.place import DEVICES
from tuner.launching.interpreter import interpreter_of
from tuner.progress import Progress
from tuner.workload.ranks import world_size

SHOWN = re.compile(f"{DEVICES}=(.*)", re.DOTALL)
ELSEWHERE = "--base-gpu-id"
# in a process of its own: the driver reads the variable once
ASK = "import json; from backends.worker.board import visible; print(json.dumps(visible()))"
ANSWER_S = 60.0
OWNER = "attnpin confirm"


def used(command: Sequence[str], engine: Engine, visible: Callable[[Mapping[str, str]], tuple[str, ...]]) -> tuple[str, ...]:
    """By UUID: as many as the ``engine`` has ranks, from the first that ``command`` sees; all that it may see where it takes others, or
    where somebody else starts it (a container, a scheduler). ``visible`` tells what a process with such variables sees."""
    shown = [match[1] for word in command if (match := SHOWN.fullmatch(word))]
    seen = visible({DEVICES: shown[-1]} if shown else {})
    direct = PurePath(command[0]).name == "env" or interpreter_of(command) is not None
    if not direct or any(word.partition("=")[0] == ELSEWHERE for word in command):
        return seen
    return seen[: world_size(engine)]


def visible_with(variables: Mapping[str, str]) -> tuple[str, ...]:
    """UUIDs of the GPUs that a process of this machine sees, in its order; none where nobody tells."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **variables}
    try:
        asked = subprocess.run([sys.executable, "-P", "-c", ASK], env=environment, capture_output=True, text=True, timeout=ANSWER_S)
        return tuple(json.loads(asked.stdout))
    except (subprocess.TimeoutExpired, ValueError):
        return ()


@contextmanager
def kept_for(command: Sequence[str], engine: Engine, progress: Progress) -> Iterator[None]:
    """While inside."""
    with locked(used(command, engine, visible_with), progress):
        yield


@contextmanager
def locked(gpus: Sequence[str], progress: Progress) -> Iterator[None]:
    """In one order whoever asks, so that no two wait for each other; one that cannot be locked is said."""
    with ExitStack() as stack:
        for gpu in sorted(set(gpus)):
            try:
                stack.enter_context(held(gpu, OWNER, partial(_wait, progress, gpu)))
            except OSError as error:
                progress.note(f"no lock on {gpu} ({error.strerror}), so another run of attnpin there would disturb this one")
        yield


def _wait(progress: Progress, gpu: str, owner: str) -> None:
    progress.phase(f"waiting for {gpu}, held by {owner}")
