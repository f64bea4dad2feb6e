"""The signatures that imitations hold the kernel adapters to, against the libraries' own source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backends.paged.signatures import described
from tests.engine.folders import engine_folders

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]  # the first use fetches two wheels

FILES = {
    "flashinfer.decode": "flashinfer/decode.py",
    "flashinfer.mla": "flashinfer/mla/_core.py",
    "flash_attn.cute.interface": "flash_attn/cute/interface.py",
}
FA3_CALLS = ("flash_attn_varlen_func", "get_scheduler_metadata")
# What backends/fa3_paged.py gives vLLM's copy by name.
GIVEN = {
    "flash_attn_varlen_func": {
        *("softmax_scale", "causal", "softcap", "num_splits", "window_size", "s_aux", "q_v", "seqused_k", "block_table"),
        *("fa_version", "scheduler_metadata"),
    },
    "get_scheduler_metadata": {"qkv_dtype", "cu_seqlens_q", "page_size", "causal", "has_softcap", "num_splits"},
}


def words(function: ast.FunctionDef) -> Iterator[str]:
    """As tests/backends/paged/signatures.yaml writes them."""
    taken = function.args
    names = [argument.arg for argument in taken.args if argument.arg != "self"]
    plain = len(names) - len(taken.defaults)
    yield from (name if place < plain else f"{name}=" for place, name in enumerate(names))
    if taken.kwonlyargs:
        yield "*"
        yield from (f"{name.arg}=" if default else name.arg for name, default in zip(taken.kwonlyargs, taken.kw_defaults))


def parsed(file: Path, function: str) -> list[str]:
    """Parameters of the last definition: those before it are overloads."""
    kind, _, name = function.rpartition(".")
    body = ast.parse(file.read_text()).body
    if kind:
        body = next(node for node in body if isinstance(node, ast.ClassDef) and node.name == kind).body
    return list(words([node for node in body if isinstance(node, ast.FunctionDef) and node.name == name][-1]))


@pytest.mark.parametrize("module", FILES)
def test_an_imitation_takes_what_the_library_takes(module: str) -> None:
    (folder,) = engine_folders("adapters")
    for function, told in described()[module]["functions"].items():
        assert parsed(Path(folder, FILES[module]), function) == told.split()


@pytest.mark.parametrize("function", FA3_CALLS)
def test_a_later_vllm_still_takes_what_its_copy_of_flashattention_is_given(function: str) -> None:
    folder, *_ = engine_folders("vllm-0.33.0")
    source = Path(folder, "vllm/vllm_flash_attn/flash_attn_interface.py")
    assert GIVEN[function] <= {word.rstrip("=") for word in parsed(source, function)}
