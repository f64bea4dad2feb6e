"""What `engine.command` is given to run: ten lines that receive the worker's code and start it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from functools import reduce
from itertools import takewhile

# The current folder leaves the path before the first import, so that a json.py lying there is not ours. Real files, since
# Triton and torch.compile read the source of what they compile.
BOOTSTRAP = """\
import sys; sys.path[:] = [p for p in sys.path if p]
if sys.version_info < (3, 10): sys.exit("the worker needs Python 3.10 or newer, this is %d.%d" % sys.version_info[:2])
import atexit, io, json, os, shutil, tempfile; from zipfile import ZipFile
incoming = os.fdopen(os.dup(0), "rb"); header = json.loads(incoming.readline()); room = header.get("room", "/dev/null")
code = io.BytesIO(incoming.read(header["bytes"])); there = os.path.isfile(room + "/backends/__init__.py")
try: folder = tempfile.mkdtemp(prefix="attnpin-"); atexit.register(shutil.rmtree, folder, True); there or ZipFile(code).extractall(folder)
except OSError as error: sys.exit("no room for temporary files (%s): mount a folder at /tmp, or name one with TMPDIR" % error.strerror)
sys.path[:0] = [room if there else folder, *header["path"]]; os.environ.update(header.get("variables", {}))
os.environ["PYTHONPATH"] = os.pathsep.join([*header["path"], os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)
from backends.worker import guard; guard.run(incoming, folder)
"""
SHELLS = ("sh", "bash", "dash", "ash", "zsh", "ksh")
# What hands a command's words to a process of its own as they are, whatever brought it there.
VERBATIM = ("docker", "podman", "nerdctl", "kubectl", "crictl", "srun", "apptainer", "singularity", "enroot")


def command_line(command: Sequence[str]) -> list[str]:
    """``command`` with the bootstrap as Python's ``-c``, quoted as often as a shell will read it on the way.

    A shell reads what follows each ssh on the other side, and what ends in a script of its own (``bash -c "... python3"``).
    """
    remote = takewhile(lambda word: _program(word) not in VERBATIM, command)
    times = sum(_program(word) == "ssh" for word in remote)
    if times == 0 and _ends_in_script(command):
        return [*command[:-1], f"{command[-1]} -c {shlex.quote(BOOTSTRAP)}"]
    return [*command, "-c", reduce(lambda text, _: shlex.quote(text), range(times), BOOTSTRAP)]


def _ends_in_script(command: Sequence[str]) -> bool:
    """Whether the last word is what a shell was given with -c (-lc, -ec, ...)."""
    return len(command) > 2 and _program(command[-3]) in SHELLS and re.fullmatch(r"-[a-z]*c", command[-2]) is not None


def _program(word: str) -> str:
    return os.path.basename(word)
