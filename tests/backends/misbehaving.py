"""Stands in for `backends.trial` in a worker under test: an arm named after a misfortune meets it."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any


def run(arm: Any, cells: Sequence[Any], stage: Any, timing: Any, say: Any) -> Iterator[dict[str, Any]]:
    say("build", arm=arm.name, cell="the cell", detail=str(os.getpid()))
    answer = globals()[arm.backend]()
    yield {"arm": arm.name, "answer": answer, "cells": len(cells)}


def works() -> str:
    return "fine"


def exits() -> None:
    os._exit(7)


def exits_silently() -> None:
    os._exit(0)


def calls_exit() -> None:
    sys.exit("a library gave up")


def segfaults() -> None:
    ctypes.string_at(0)


def is_killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hangs() -> None:
    while True:
        time.sleep(0.01)


def hangs_with_the_lock() -> None:
    ctypes.PyDLL(None).sleep(60)  # PyDLL keeps the interpreter's lock: no thread of this process runs


def spins_with_the_lock() -> None:
    pow(3, 10**9)


def prints_garbage() -> str:
    print("{not json")
    ctypes.CDLL(None).puts(b"neither is this")
    ctypes.CDLL(None).fflush(None)
    os.write(1, b"nor this, written to the descriptor\n")
    subprocess.run(["echo", "a child prints too"], check=True)
    return sys.stdin.read()


def runs_out_of_memory() -> None:
    raise MemoryError


def runs_out_of_gpu_memory() -> None:
    kind = type("OutOfMemoryError", (RuntimeError,), {})  # as torch names it
    raise kind("CUDA out of memory. Tried to allocate 20.00 GiB.\nMore advice")


def loses_the_gpu() -> None:
    raise RuntimeError("CUDA error: an illegal memory access was encountered\nCompile with TORCH_USE_CUDA_DSA")


def loses_a_real_gpu() -> None:
    import torch

    torch.arange(4, device="cuda")[torch.tensor([1 << 40], device="cuda")].sum().item()


def fills_a_real_gpu() -> None:
    import torch

    torch.empty(1 << 50, dtype=torch.uint8, device="cuda")


def hangs_on_a_real_gpu() -> None:
    import torch

    torch.cuda._sleep(1 << 40)  # ten minutes of cycles
    torch.cuda.synchronize()


def blames_another_arm() -> None:
    from backends.blame import ArmFailed
    from backends.outcome import Outcome

    raise ArmFailed("triton/p1", None, Outcome.INCORRECT, "wrong by 3")


def misses_a_module() -> None:
    import no_such_kernel_library  # noqa: F401


def returns_nan() -> float:
    return float("nan")


def answers_five_megabytes() -> list[float]:
    return [index + 0.125 for index in range(500_000)]


def compiles_for_a_second() -> str:
    """Longer than the limit for silence, but under a compiler's name."""
    with tempfile.TemporaryDirectory() as folder:
        compiler = shutil.copy(str(shutil.which("sleep")), os.path.join(folder, "cc1plus"))
        subprocess.run([compiler, "2.5"], check=True)
    return "built"


def compiles_for_ever() -> None:
    with tempfile.TemporaryDirectory() as folder:
        compiler = shutil.copy(str(shutil.which("sleep")), os.path.join(folder, "cc1plus"))
        subprocess.run([compiler, "60"], check=True)


def leaves_an_orphan() -> None:
    subprocess.Popen(["sleep", "61"], start_new_session=True)
    os._exit(3)


def reads_its_own_source() -> bool:
    """As Triton and torch.compile do with what they compile."""
    import inspect

    return "as Triton" not in inspect.getsource(works) and os.path.isfile(__file__)


def names_its_account() -> list[str]:
    import getpass

    return [getpass.getuser(), os.path.basename(os.path.expanduser("~"))]


def lists_heavy_imports() -> list[str]:
    return sorted({"torch", "numpy", "hydra", "optuna", "sqlalchemy", "pynvml"} & set(sys.modules))
