"""What `engine.command` is given to run: ten lines that receive the worker's code and start it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

# The current folder leaves the path before the first import, so that a json.py lying there is not ours. Real files, since
# Triton and torch.compile read the source of what they compile.
BOOTSTRAP = """\
import sys; sys.path[:] = [p for p in sys.path if p]
if sys.version_info < (3, 10): sys.exit("the worker needs Python 3.10 or newer, this is %d.%d" % sys.version_info[:2])
import atexit, io, json, os, shutil, tempfile, zipfile
incoming = os.fdopen(os.dup(0), "rb")
header = json.loads(incoming.readline()); code = io.BytesIO(incoming.read(header["bytes"]))
folder = tempfile.mkdtemp(prefix="attnpin-"); atexit.register(shutil.rmtree, folder, True); zipfile.ZipFile(code).extractall(folder)
sys.path[:0] = [folder, *header["path"]]
os.environ["PYTHONPATH"] = os.pathsep.join([*header["path"], os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)
from backends.worker import guard
guard.run(incoming, folder)
"""


def command_line(command: Sequence[str]) -> list[str]:
    """``command`` with the bootstrap as Python's ``-c``; ssh hands its words to a shell, so there the code is quoted."""
    through_shell = os.path.basename(command[0]) == "ssh"
    return [*command, "-c", shlex.quote(BOOTSTRAP) if through_shell else BOOTSTRAP]
