"""attnpin as a command of its own, with a device key and worker code of the tests': lone.py KEY CODE_FILE ARGUMENT..."""

from __future__ import annotations

import sys
from pathlib import Path

from tuner import cli, tune
from tuner.device import session_of


def main(key: str, code_file: str, *arguments: str) -> int:
    code = Path(code_file).read_bytes()
    tune.device_key = lambda board: key
    session_of.worker_code = lambda settings: code
    return cli.run(arguments)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
