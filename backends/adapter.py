"""What every kernel adapter does first: its library, the device, and the knobs it was asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from backends.driver import MissingPackage, Refused

if TYPE_CHECKING:
    from backends.arm import Arm
    from backends.driver import Stage

Knobs = Mapping[str, tuple[str, ...]]


def kernel_library(module: str, distribution: str) -> Any:
    """The imported ``module``. Raises `MissingPackage` where it is not there or does not load, as one built for another torch."""
    try:
        return importlib.import_module(module)
    except (ImportError, OSError) as error:
        missing = getattr(error, "name", None) or module
        raise MissingPackage(f"module {missing} cannot be imported ({error}); install {distribution}") from error


def require_gpu(arm: Arm, stage: Stage) -> None:
    if stage.device.type != "cuda":
        raise Refused(f"{arm.backend} runs on NVIDIA GPUs only, this device is a {stage.device.type}")


def refuse_knobs(arm: Arm, known: Knobs) -> None:
    for name, value in arm.knobs:
        if value not in known.get(name, ()):
            said = "; ".join(f"{knob}: {', '.join(values)}" for knob, values in known.items()) or "none"
            raise Refused(f"{arm.backend} driven by itself has no knob {name}={value}; it has {said}")
