"""The file that `traffic.path` names: a server's log, or rows."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import BinaryIO, cast

from reports.wording import engine as engine_title
from tuner.engines.lookup import steps_printed_by
from tuner.errors import UsageError
from tuner.logs.files import GZIP, raw_lines
from tuner.logs.lines import lines
from tuner.traffic.gather import gather
from tuner.traffic.rows import FIRST, rows
from tuner.traffic.server_log import server_log
from tuner.traffic.trace import How, Trace


def read_trace(path: str, how: How, engine: str) -> Trace:
    """A log is one of ``engine``'s servers. Gzip shows in the content. Raises `UsageError`."""
    file = Path(path)
    if not file.is_file():
        what = "is a folder: name a file in it" if file.is_dir() else "does not exist: check the path"
        raise UsageError(f"traffic.path={path} {what}")
    try:
        with _opened(file) as stream:
            begins = stream.read(FIRST)
        spoken = steps_printed_by(engine)
        if spoken is not None and (spoken.STEP.search(begins) or spoken.STARTS.search(begins)):
            said = spoken.printed(lines(raw_lines(str(file), rotated=False), words=spoken.WORDS))
            return server_log(said, engine_title(engine), path)
        with _opened(file) as stream:
            return gather(rows(stream, path), path, how)
    except (EOFError, gzip.BadGzipFile) as error:
        raise UsageError(f"traffic.path={path} is a gzip file that is cut short or broken ({error}); give a whole one") from None
    except OSError as error:
        raise UsageError(f"traffic.path={path} cannot be read ({error.strerror or error}); check the file") from None


def _opened(file: Path) -> BinaryIO:
    with file.open("rb") as stream:
        packed = stream.read(len(GZIP)) == GZIP
    return cast(BinaryIO, io.BufferedReader(gzip.GzipFile(file))) if packed else file.open("rb")
