"""From a file to the list of packages in it, whatever its format."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tuner.errors import UsageError
from tuner.image.freeze import NotFrozen, read_freeze
from tuner.image.inspected import is_inspected, read_inspected
from tuner.image.listing import Listing
from tuner.image.sbom import is_cyclonedx, is_spdx, read_cyclonedx, read_spdx

STANDARD_INPUT = "-"
READ = "the text of `pip freeze`, or the JSON of `pip inspect`, of a CycloneDX or of an SPDX SBOM"

Plain = dict[str, Any]
JSON_FORMATS: tuple[tuple[Callable[[Plain], bool], Callable[[Plain], Listing]], ...] = (
    (is_inspected, read_inspected),
    (is_cyclonedx, read_cyclonedx),
    (is_spdx, read_spdx),
)


def read_listing(file: str) -> Listing:
    """``file`` is a path, or `STANDARD_INPUT`. Raises `UsageError` for what is none of `READ`, or lists nothing."""
    try:
        content = sys.stdin.buffer.read() if file == STANDARD_INPUT else Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"--packages {file} cannot be read ({error.strerror}); give {READ}") from None
    return listing_of(content, file)


def listing_of(content: bytes, file: str) -> Listing:
    """Raises as `read_listing`, which see."""
    try:
        text = content.decode("utf-8-sig")
        listing = _of_json(json.loads(text)) if text.lstrip()[:1] in ("{", "[") else read_freeze(text)
    except (NotFrozen, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"--packages {file} is not {READ}: {_in_a_clause(error)}") from None
    if not listing.found:
        raise UsageError(f"--packages {file} is {listing.form} without a Python distribution in it; list what is installed in the image")
    return listing


def _of_json(plain: Any) -> Listing:
    if not isinstance(plain, dict):
        raise ValueError("it holds a list")
    for is_one, read in JSON_FORMATS:
        if is_one(plain):
            return read(plain)
    raise ValueError(f"its keys are {', '.join(list(plain)[:4]) or 'none'}")


def _in_a_clause(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is no UTF-8 text"
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno} is not JSON ({error.msg})"
    if isinstance(error, RecursionError):
        return "its brackets are too deep"
    if isinstance(error, (KeyError, TypeError, AttributeError)):
        return f"an entry of it is not as that format has it ({' '.join(str(error).split())[:80]})"
    return " ".join(str(error).split())[:120]
