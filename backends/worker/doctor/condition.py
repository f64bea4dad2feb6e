"""The condition of this worker's environment."""

from __future__ import annotations

import os
from pathlib import Path

from backends import cuda_driver
from backends.condition import Interest, ServingCondition
from backends.worker.doctor import copies, left_locks, management, packages, toolkit, torch_links


def seen(interest: Interest) -> ServingCondition:
    """Nothing is imported but metadata, no device memory is taken."""
    found = packages.on_path(interest.distributions)
    used = packages.first_of_each(found)
    return ServingCondition(
        installed=tuple(package.described for package in found),
        provided=copies.provided(interest.imports),
        overwritten=copies.overwritten(found),
        fa4_copies=copies.of_fa4(used),
        linked=torch_links.checked(package for package in used if package.name in interest.compiled),
        toolkit=toolkit.found(os.environ),
        tools=toolkit.tools(),
        locks=left_locks.found(),
        management=management.asked(),
        gpus=tuple(device.name for device in cuda_driver.visible_devices()),
        driver_cuda=cuda_driver.cuda_version(),
        variables=tuple((name, os.environ[name]) for name in interest.variables if name in os.environ),
        overlays=tuple(str(Path(folder).resolve()) for folder in interest.path),
    )
