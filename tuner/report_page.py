"""A report as one file for a browser."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from store.files import destination, write_together
from tuner.errors import UsageError
from tuner.pinning.place import refuse_folder

if TYPE_CHECKING:
    from reports.web.page import WebPage
    from store.runs.run import Run

STDOUT = "-"
MISSING = 'a page draws its plots with matplotlib, which is not here ({error}); pip install "attnpin[plot]"'


def of_pin(pin: Path) -> WebPage:
    """With what the pin says of validity. Raises as `unedited`."""
    from reports.web.run_page import run_page
    from tuner.checking.edited import unedited

    made, run = unedited(pin)
    return run_page(run, made)


def of_stored(run: Run) -> WebPage:
    """Less what may not leave the store."""
    from reports.web.run_page import run_page
    from store.evidence.run_evidence import public

    return run_page(public(run))


def of_comparison(path: Path, config_dir: str | None) -> WebPage:
    from reports.web.comparison_page import comparison_page
    from tuner.comparing.recorded import judged, recorded

    measured = recorded(path)
    return comparison_page(measured, judged(measured, config_dir))


def refuse_undrawn(out: Path) -> None:
    """Raises `UsageError` without matplotlib, before what is to be drawn is measured."""
    if find_spec("matplotlib") is None:
        raise UsageError(f"--html {out}: {MISSING.format(error='no module of that name')}")


def write(page: Callable[[], WebPage], out: Path) -> None:
    """``page`` to ``out``, "-" = standard output. Raises `UsageError` without matplotlib, `StoreError`."""
    from reports.web.html import render

    if str(out) != STDOUT:
        refuse_folder(f"--html {out}", destination(out))
    try:
        text = render(page())
    except ImportError as error:
        raise UsageError(f"--html {out}: {MISSING.format(error=error)}") from None
    if str(out) == STDOUT:
        sys.stdout.write(text)
    else:
        write_together([(out, text.encode())])
