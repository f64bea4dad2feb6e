"""The two ends of the spread of env-file dialects: a shell that evaluates lines, and docker that takes them literally."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

VARIABLE = "ATTNPIN_ARGS"
SHELLS = [shell for shell in ("sh", "dash", "bash") if shutil.which(shell)]


def sourced(shell: str, text: str, folder: Path) -> str:
    """The variable as a child process sees it after `set -a; . file`."""
    file = folder / "attnpin.env"
    file.write_text(text, encoding="utf-8")
    script = f'set -eua; . "$1"; set +a; exec "$0" -c \'printf "%s" "${VARIABLE}"\''
    done = subprocess.run(
        [shell, "-c", script, shell, str(file)], capture_output=True, text=True, check=True, env={"PATH": "/usr/bin:/bin"}
    )
    assert done.stderr == ""
    return done.stdout


def docker(text: str) -> dict[str, str]:
    """`docker run --env-file`: lines that start with # are dropped, all else is KEY=value to the end of the line.

    Source: docker/cli, opts/file.go, parseKeyValueFile: the key may hold no blank, the value is taken literally.
    """
    found = {}
    for line in text.split("\n"):
        line = line.lstrip()
        if line and not line.startswith("#"):
            key, equals, value = line.partition("=")
            assert equals and key and not any(char.isspace() for char in key), f"docker refuses {line!r}"
            found[key] = value
    return found
