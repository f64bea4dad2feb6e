"""Imports for a process that measures next, made while another one still measures: modules only, nothing on the device."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from contextlib import suppress

from backends import cuda_driver
from backends.arm import Arm


def import_ahead(arms: Sequence[Arm]) -> bool:
    """Import torch and what the drivers of ``arms`` name; whether that opened a context on the device, as it should not.

    Whatever fails is left for the arm to report once it is opened.
    """
    for arm in arms:
        with suppress(Exception):  # an import may raise anything
            importlib.import_module("torch")
            module, _, name = arm.driver.partition(":")
            driver = getattr(importlib.import_module(module), name)
            if hasattr(driver, "import_ahead"):
                driver.import_ahead(arm.packages)
    return cuda_driver.context_is_open()
