"""An arm's packages against what the engine's own modules import for its backend: an upgrade of one of them may change what it runs."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from backends.worker.distributions import COMPANIONS
from tests.backends.sglang.declared import driven, engine_driver
from tests.engine.folders import engine_folders

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]  # the first use fetches a wheel

VERSIONS = ("0.5.16", "0.5.22", "0.5.23")
REGISTRY = "sglang/srt/layers/attention"
# Beside the module of the registry, where the kernels are chosen; before 0.5.22 they lay in jit_kernel.
CHOOSERS = {"fa3": "flash_attention_v3.py", "fa4": "flash_attention_v4.py"}
MODULES = {
    **{"flashinfer": ("flashinfer_backend.py", "flashinfer_mla_backend.py"), "flashmla": ("flashmla_backend.py",)},
    **{"trtllm_mha": ("trtllm_mha_backend.py",), "triton": ("triton_backend.py",), "fa3": (), "fa4": ()},
    **{"flex_attention": ("torch_flex_backend.py",), "torch_native": ("torch_native_backend.py",)},
    **{"trtllm_mla": ("trtllm_mla_backend.py",), "cutlass_mla": ("cutlass_mla_backend.py",)},
    "cutedsl_mla": ("trtllm_mla_backend.py",),  # whose class it is in 0.5.16; its own file, since 0.5.22, imports FlashInfer alone
}
EVERYWHERE = {"torch", "numpy", "sglang", *sys.stdlib_module_names}
NO_KERNELS = {"fa3": {"flash_attn"}}  # FlashAttention 2, on boards on which fa3 is refused
ROOMS = (REGISTRY, "sglang/kernels/ops/attention", "sglang/jit_kernel")


def imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def files_of(backend: str, folder: Path) -> list[Path]:
    names = [*MODULES[backend], *([CHOOSERS[backend]] if backend in CHOOSERS else [])]
    found = [file for name in names for room in ROOMS if (file := folder / room / name).is_file()]
    assert len(found) == len(names), f"{backend}: {names} are no longer where they were in {folder}"
    return found


def covered(packages: tuple[str, ...]) -> set[str]:
    """Import names behind the packages, those installed with them among them."""
    beside = {name.replace("-", "_") for package in packages for name in COMPANIONS.get(package, ())}
    return {*packages, *beside}


@pytest.mark.parametrize(
    ("backend", "version"), [(entry.name, version) for entry in driven() for version in VERSIONS if version in entry.capability.versions]
)
def test_an_arm_rests_on_all_that_the_engine_imports_for_its_backend(backend: str, version: str) -> None:
    (entry,) = (entry for entry in driven() if entry.name == backend)
    driver = engine_driver(entry)
    assert driver is not None
    foreign = {name for file in files_of(backend, Path(engine_folders(version)[0])) for name in imported(file)} - EVERYWHERE
    left = foreign - covered((*driver.packages, *driver.optional))
    assert left <= NO_KERNELS.get(backend, set()), f"{backend} of {version} imports {sorted(left)}, which its arms do not rest on"
