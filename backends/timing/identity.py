"""Which kernels really ran: an untimed pass under the profiler, after everything that is timed."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.measured import Identity, KernelNode
from backends.timing.demangled import demangled
from backends.timing.recorded_once import recorded_once

if TYPE_CHECKING:
    import torch

    from backends.driver import PreparedCall
    from backends.timing.timed import Timed


Names = tuple[str, ...]


def identify(call: PreparedCall, timed: Timed, device: torch.device, told: dict[Names, Names]) -> Identity:
    """The device kernels of one call in launch order, none of which can be read on a CPU, and its launches as `launches_of` tells
    them; of an eager call that cannot be recorded as the profiler does.

    The driver tells a recording of kernels alone, by the names that the profiler has for them (no mismatch in the recorded runs of an
    H200). The profiler, who takes 5 s to come and a third of one a call (H200), is asked for the rest: eager calls, copies and memsets.
    It is shown the same kernels in the same order once: ``told`` is what it said in this process, by the driver's names.
    """
    if device.type == "cpu":
        return Identity(call.resolved, timed.mode, ())
    nodes = launches_of(call, timed)
    known = tuple(node.name for node in nodes)
    if nodes and known in told:
        return Identity(call.resolved, timed.mode, told[known], nodes)
    if nodes and timed.mode == "graph" and timed.only_kernels:
        with suppress(OSError):  # without the C++ runtime the profiler says it
            return Identity(call.resolved, timed.mode, tuple(map(demangled, known)), nodes)
    profiler = _profiled(call, timed)
    told[known] = _names(profiler, timed)
    return Identity(call.resolved, timed.mode, told[known], nodes or (_traced(profiler) if timed.mode == "eager" else ()))


def _names(profiler: Any, timed: Timed) -> Names:
    """One run holds ``launches`` equal calls (an eager one a single call), so the first part of its kernels is one call's."""
    events = [event for event in profiler.events() if event.device_type.name == "CUDA"]
    events.sort(key=lambda event: event.time_range.start)
    launches = timed.pace.launches if timed.mode == "graph" else 1
    return tuple(event.name for event in events[: len(events) // launches])


def launches_of(call: PreparedCall, timed: Timed) -> tuple[KernelNode, ...]:
    """The launches of one call as the driver knows them, of an eager one from a recording of its own, to be made after everything
    that is timed; empty where there is none and where the driver does not tell."""
    return timed.nodes if timed.mode == "graph" else recorded_once(call, timed.slots - 1)


def _profiled(call: PreparedCall, timed: Timed) -> Any:
    import torch
    from torch.profiler import ProfilerActivity, profile

    with call.active():
        call.plan()
        torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CUDA]) as profiler:
            timed.run_once()
            torch.cuda.synchronize()
    return profiler


def _traced(profiler: Any) -> tuple[KernelNode, ...]:
    """What the profiler tells of launches in its trace file alone; nothing where this torch writes another one."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "trace.json")
        try:
            profiler.export_chrome_trace(str(file))
            return launches_in(json.loads(file.read_text())["traceEvents"])
        except (OSError, RuntimeError, ValueError, KeyError, TypeError):
            return ()


def launches_in(events: Sequence[dict[str, Any]]) -> tuple[KernelNode, ...]:
    """The kernels of a trace in the order they ran; empty where it does not tell their grids."""
    kernels = sorted((event for event in events if event.get("cat") == "kernel"), key=lambda event: float(event["ts"]))
    told = [(event["name"], event.get("args", {})) for event in kernels]
    if any(not {"grid", "block"} <= details.keys() for _, details in told):
        return ()
    return tuple(
        KernelNode(name, _axes(of["grid"]), _axes(of["block"]), int(of.get("shared memory", 0)), (int(of.get("registers per thread", 0)),))
        for name, of in told
    )


def _axes(values: Sequence[int]) -> tuple[int, int, int]:
    x, y, z = values
    return x, y, z
