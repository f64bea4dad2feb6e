"""The engines' serving benchmarks have the options and the names by which `attnpin confirm` gives them its requests.

Their source is read, not run: it imports more than is unpacked here.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.engine.folders import engine_folders
from tuner.engines.benchmarks import Row
from tuner.engines.lookup import benchmarks_of

pytestmark = pytest.mark.engine

ROWS: tuple[tuple[Row, ...], ...] = ((((((9, 3),), 1),)), (((((0, 5),), 4),)))


def source(version: str, *files: str) -> str:
    folder = Path(engine_folders(version)[0])
    return "\n".join((folder / file).read_text() for file in files)


def options(engine: str) -> set[str]:
    passes = benchmarks_of(engine).serving("http://h:1", (1,), ROWS, Path("results.jsonl")).passes
    return {word for words in passes for word in words if word.startswith("--")}


def fields(text: str, name: str) -> set[str]:
    """Of the class."""
    (found,) = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef) and node.name == name)
    return {node.target.id for node in found.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}


@pytest.mark.parametrize("version", ["0.5.16", "0.5.22", "0.5.23"])
def test_sglang_takes_requests_for_its_data_set(version: str) -> None:
    text = source(version, "sglang/benchmark/serving.py")
    assert {each for each in options("sglang") if f'"{each}"' not in text} == set()
    assert "input_requests = get_dataset(args, tokenizer, model_id)" in text and '"random-ids"' in text
    assert fields(source(version, "sglang/benchmark/datasets/common.py"), "DatasetRow") >= {"prompt", "prompt_len", "output_len"}
    mapping = source(version, "sglang/benchmark/datasets/__init__.py")
    assert "dataset_cls = DATASET_MAPPING[dataset_name]" in mapping and "dataset_cls.from_args(args)" in mapping


def test_vllm_takes_requests_for_its_data_set() -> None:
    text = source("vllm-0.33.0", "vllm/benchmarks/serve.py", "vllm/benchmarks/datasets/datasets.py")
    assert {each for each in options("vllm") if f'"{each}"' not in text} == set()
    assert "input_requests = get_samples(args, tokenizer)" in text
    assert fields(source("vllm-0.33.0", "vllm/benchmarks/datasets/datasets.py"), "SampleRequest") >= {
        "prompt",
        "prompt_len",
        "expected_output_len",
    }
