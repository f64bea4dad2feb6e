"""Which kernels really ran: an untimed pass under the profiler, after everything that is timed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.measured import Identity

if TYPE_CHECKING:
    import torch

    from backends.driver import PreparedCall
    from backends.timing.timed import Timed


def identify(call: PreparedCall, timed: Timed, device: torch.device) -> Identity:
    """The inner path, graph or eager, and the device kernels of one call in launch order (none can be read on a CPU)."""
    return Identity(call.resolved, timed.mode, _kernel_names(call, timed, device))


def _kernel_names(call: PreparedCall, timed: Timed, device: torch.device) -> tuple[str, ...]:
    """One run holds ``launches`` equal calls (an eager one a single call), so the first part of its kernels is one call's."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    if device.type == "cpu":
        return ()
    with call.active():
        call.plan()
        torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CUDA]) as profiler:
            timed.run_once()
            torch.cuda.synchronize()
    events = [event for event in profiler.events() if event.device_type.name == "CUDA"]
    events.sort(key=lambda event: event.time_range.start)
    launches = timed.pace.launches if timed.mode == "graph" else 1
    return tuple(event.name for event in events[: len(events) // launches])
