"""The files of public reports beside this one: what their keys mean stands at their heads."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tuner.composing.shipped import LOADER

Cases = Mapping[str, Mapping[str, Any]]


@cache
def read_cases(name: str) -> Cases:
    """By id."""
    listed = yaml.load(Path(__file__).with_name(f"{name}.yaml").read_text(encoding="utf-8"), LOADER)
    return {case["id"]: case for case in listed}
