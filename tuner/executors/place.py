"""Where a job runs, and what its workers are told of it."""

from __future__ import annotations

from dataclasses import dataclass

from backends.worker.near import NEAR
from tuner.errors import UsageError

DEVICES = "CUDA_VISIBLE_DEVICES"


LOCAL = "local"


@dataclass(frozen=True)
class Place:
    """The settings of group `executor`. ``device``: the UUID of the GPU that this job has for itself, None = the first visible one.
    ``since``: when the sweep was begun that this job is of; what was begun later is its own, though another process did it.
    ``spread``: this job is the only one of its sweep, so that its rounds may have what else is idle in the cluster."""

    kind: str = LOCAL
    exclusive_host: bool = True
    device: str | None = None
    numa: bool = True
    since: str | None = None
    spread: bool = False
    folder: str = "slurm"
    submit: bool = False
    options: tuple[str, ...] = ()
    at_once: int = 64
    address: str | None = None
    resources: tuple[str, ...] = ()

    @property
    def variables(self) -> dict[str, str]:
        """What workers find in their environment; nothing where no device was named."""
        if self.device is None:
            return {}
        return {DEVICES: self.device, **({NEAR: self.device} if self.numa else {})}


def refuse_elsewhere(place: Place) -> None:
    """Raises `UsageError` where a command that measures on this machine is asked to do it on others, which `attnpin tune` alone does."""
    if place.kind != LOCAL:
        raise UsageError(f"executor={place.kind} is attnpin tune's; this command measures on this machine alone: leave executor at local")
